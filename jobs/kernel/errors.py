"""Errors that a user can act on. The command line turns each into one message and an exit code."""

from __future__ import annotations

from collections.abc import Sequence

DEBUG = "CRAWLRANK_DEBUG"  # in the environment: unforeseen exceptions are raised as they are
UNEXPECTED = f"an error that was not foreseen ({DEBUG}=1 shows where; please report it)"


class CrawlrankError(Exception):
    """Base of all: the message is for the user, `exit_code` for the shell."""

    exit_code = 1


class BadInput(CrawlrankError):
    """Input that cannot be used.

    where: file, with line or offset if known. found: what is there.
    expected and cure: what should be there, and what to do about it.
    """

    exit_code = 3

    def __init__(self, where: str, found: str, expected: str = "", cure: str = "") -> None:
        self.where, self.found, self.expected, self.cure = where, found, expected, cure
        message = f"{where}:{found}" if found.startswith("\n") else f"{where}: {found}"
        if expected:
            message += f"; expected {expected}"
        if cure:
            message += f". {cure}"
        super().__init__(message)

    def __reduce__(self) -> tuple[type[BadInput], tuple[str, str, str, str]]:
        """Lets it pass from a process of a pool to its parent."""
        return BadInput, (self.where, self.found, self.expected, self.cure)


class Unreachable(BadInput):
    """A file on a server that cannot be read, or not to its end: never taken for damage of it."""

    def __reduce__(self) -> tuple[type[BadInput], tuple[str, str, str, str]]:
        return Unreachable, (self.where, self.found, self.expected, self.cure)


MAX_NAMED = 20  # files that one message names


def unreadable(
    errors: Sequence[tuple[str, Sequence[str]]], among: int, more_cure: str = ""
) -> BadInput:
    """One error for all archives that cannot be read, each with its reason. errors: the path, and
    found, expected and cure, of one or more. among: the archives in all."""
    path, (found, expected, cure) = errors[0][0], (*errors[0][1], "", "")[:3]
    if len(errors) == 1:
        return BadInput(path, found, expected, f"{cure} {more_cure}".strip())
    named = [f"\n  {path}: {of[0]}" for path, of in errors[:MAX_NAMED]]
    if len(errors) > MAX_NAMED:
        named.append(f"\n  … and {len(errors) - MAX_NAMED:,} more")
    what = f"{len(errors):,} of {count_of(among, 'archive')} cannot be read"
    named.append(f"\n{expected[:1].upper()}{expected[1:]} is expected")
    return BadInput(what, "".join(named), "", f"{cure} {more_cure}".strip())


class Shortage(CrawlrankError):
    """A resource of the machine is used up (jobs/kernel/machine/shortage.py); no input is at fault.

    where: file, folder or job, '' if unknown. found: what is used up. cure: what to do about it.
    """

    exit_code = 3

    def __init__(self, where: str, found: str, cure: str) -> None:
        self.where, self.found, self.cure = where, found, cure
        super().__init__(f"{where}: {found}. {cure}" if where else f"{found}. {cure}")

    def __reduce__(self) -> tuple[type[Shortage], tuple[str, str, str]]:
        return Shortage, (self.where, self.found, self.cure)


class NotConverged(CrawlrankError):
    """The rounds or visits allowed were not enough, or a validation is below its threshold."""

    exit_code = 4


class JobFailed(CrawlrankError):
    """A job of the runner failed; the message has the task's last lines."""

    exit_code = 5


def died(how: str) -> list[str]:
    """Found, expected and cure of an archive whose process died of a lack of memory or a fault of a
    parser. how: a signal or an exit code."""
    return [
        f"the process that read it died ({how})",
        "an archive that can be read in the memory there is",
        "Try it by itself, with --jobs 1 and a smaller --max-record.",
    ]


class NoNodes(BadInput):
    """No page gets an id."""

    def __reduce__(self) -> tuple[type[NoNodes], tuple[str, str, str, str]]:
        return NoNodes, (self.where, self.found, self.expected, self.cure)


def no_nodes(where: str, nodes: str) -> NoNodes:
    """The error of assign-ids that gives no id to any page. nodes: linked or all."""
    look = "Look at what extract-links counted"
    if nodes == "all":
        what = "no links at all, and no captures, so no page gets an id"
        return NoNodes(where, what, "at least one link or capture", f"{look}.")
    what, cure = (
        "no links at all, so no page gets an id",
        "--nodes all ranks pages without links too",
    )
    return NoNodes(where, what, "at least one link", f"{look}; {cure}.")


def count_of(count: int, one: str, many: str = "") -> str:
    """The number with the noun in the form that goes with it. many: where it is not `one` and s.

    >>> count_of(1, "page"), count_of(2012, "page"), count_of(0, "entry", "entries")
    ('1 page', '2,012 pages', '0 entries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


class BadLine(ValueError):
    """A line of a text dataset that does not have its format; the reader adds file and number."""

    def __init__(self, found: str, expected: str) -> None:
        self.found, self.expected = found, expected
        super().__init__(f"{found}; expected {expected}")
