"""What to change so that the next crawl keeps to its precedence file, as far as an audit can tell.

Each rule looks at one thing that goes wrong in Heritrix without any error: a bean that is missing,
a file that was not loaded, spellings that are never asked for, values that are no classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.analysis.audit.findings import Audit
from pipeline.analysis.audit.order import Measure
from pipeline.precedence.beans import CLIPPED

WELL, BADLY = 0.9, 0.75  # shares of pairs in order that count as kept, and as not kept
SOME = 10  # pairs below which nothing is said about an order
BEANS = "crawler-beans-fragment.xml, which `crawlrank export-precedence` writes, has it"


def advise(found: Audit) -> list[str]:
    """Sentences for people; none where nothing is to be changed."""
    return [said for rule in RULES for said in rule(found)]


def _is(measure: Measure, *, below: float) -> bool:
    return measure.pairs >= SOME and (measure.kept or 0) < below


def _unlisted_first(found: Audit) -> Iterator[str]:
    before = found.before
    if before.pairs >= SOME and before.wrong > before.pairs / 2:
        yield (
            f"Unlisted URIs came before listed ones in {before.wrong / before.pairs:.0%} of the"
            " pairs: the default precedence is likely missing. Set defaultUriPrecedencePolicy in"
            " the bean uriPrecedencePolicy; Heritrix's own default puts unlisted URIs first."
            f" {BEANS}."
        )


def _hosts_in_turn(found: Audit) -> Iterator[str]:
    kept_within = found.within.pairs < SOME or (found.within.kept or 0) >= WELL
    if found.host_count > 1 and kept_within and _is(found.across, below=BADLY):
        yield (
            "Within hosts the order is kept, from host to host it is not"
            f" ({found.across.kept:.0%} of the pairs): the queue policy is likely missing. Set"
            " queuePrecedencePolicy in the bean frontier to HighestUriQueuePrecedencePolicy;"
            f" without it hosts are crawled one after the other. {BEANS}."
        )


def _not_loaded(found: Audit) -> Iterator[str]:
    if _is(found.all, below=BADLY) and _is(found.within, below=BADLY):
        yield (
            f"The order has little to do with the file ({found.within.kept:.0%} of the pairs"
            " within hosts are in order). Either the file was not loaded into the job's state"
            " folder before the launch, or the bean uriPrecedencePolicy is missing; or the crawl"
            " found its URIs one after the other: as seeds they are all in the queues at once."
        )


def _spellings(found: Audit) -> Iterator[str]:
    if count := found.counts["unmet"]:
        yield (
            f"{count:,} URIs of the file are not in the form in which Heritrix looks them up, so"
            " their lines have no effect. `crawlrank export-precedence --lint` says how to write"
            " them."
        )
    others = {name: cause.spelled for name, cause in found.unlisted.items() if cause.spelled}
    if others:
        told = ", ".join(f"{name} {uris:,}" for name, uris in others.items())
        yield (
            f"{sum(others.values()):,} unlisted URIs are other spellings of listed ones ({told})."
            " Heritrix's key keeps every difference: list every spelling that was captured or"
            " linked to (`--spellings all`, the default), from a crawl that has them."
        )


def _never(found: Audit) -> Iterator[str]:
    never = {number: row.never for number, row in found.classes.items() if row.never > 0}
    if not never:
        return
    fetched = [number for number, row in found.classes.items() if row.listed and row.fetched]
    total = sum(never.values())
    if found.log.unfinished:
        yield (
            f"{total:,} listed URIs were not fetched, and Heritrix has a log open or was killed"
            f" ({found.log.unfinished[0]}.lck is there): audit again when the crawl has finished."
        )
    elif fetched and min(never) >= max(fetched) and len(found.classes) > 1:
        yield (
            f"{total:,} listed URIs were not fetched, all in the last class that was reached or"
            " behind it: the crawl was likely ended before it was done."
        )
    else:
        others = f" Of {found.respelled:,}, another spelling was fetched." * bool(found.respelled)
        yield (
            f"{total:,} listed URIs were not fetched.{others} A crawl fetches what it finds, once:"
            " the others were not linked to, out of scope or reached too late. Give them as seeds."
        )


def _values(found: Audit) -> Iterator[str]:
    tied = found.classes.get(CLIPPED)
    if tied and tied.listed > 1:
        yield (
            f"{tied.listed:,} URIs have a precedence of {CLIPPED - 1} or more, which Heritrix"
            " takes for one: use 1 to 125."
        )
    negative = sum(row.listed for number, row in found.classes.items() if number > CLIPPED)
    if negative:
        yield f"{negative:,} URIs have a precedence below -1 and come last: use 1 to 125."
    if minus := found.file.problems["minus one"]:
        yield f"{minus:,} lines have -1, which counts as not listed: use 1 to 125."


def _clock(found: Audit) -> Iterator[str]:
    if found.log.clock_back:
        path, line = found.log.clock_places[0]
        yield (
            f"The clock went back in the log ({found.log.clock_back:,} lines, the first {path},"
            f" line {line}), so times do not give the order: give the logs in the order of the"
            " crawl, with `--by line`, and one crawl at a time."
        )


RULES: tuple[Callable[[Audit], Iterator[str]], ...] = (
    _clock, _unlisted_first, _hosts_in_turn, _not_loaded, _spellings, _values, _never,
)  # fmt: skip
