"""What to change so that the next crawl keeps to its precedence file, as far as an audit can tell.

Each rule looks for one fault that Heritrix does not report: a bean that is missing, a file that was
not loaded, spellings that are never looked up, values that are no classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.analysis.audit.causes import advise_for_certain
from crawlrank.pipeline.analysis.audit.crawl_log import PAGES_LOG, why_ended
from crawlrank.pipeline.analysis.audit.findings import Audit
from crawlrank.pipeline.analysis.audit.order import Measure
from crawlrank.pipeline.precedence.beans import CLIPPED

WELL, BADLY = 0.9, 0.75  # order is kept from WELL of the pairs in order, and not kept below BADLY
SOME = 10  # with fewer pairs or URIs, no rule judges
SEVERAL = 5  # unlisted URIs, fewer of which say nothing of the default precedence
MOSTLY = 0.9
BEANS = "crawler-beans-fragment.xml, which `crawlrank export` writes, has it"


def advise(audit: Audit) -> list[str]:
    """Sentences for people; none if nothing is to be changed."""
    if ended := why_ended(audit.log.left_out):
        return [ended]  # what else is missing follows from it
    rules = RULES if audit.annotations is None else CERTAIN
    return [sentence for rule in rules for sentence in rule(audit)]


def _is_kept_below(share: float, measure: Measure) -> bool:
    return measure.pairs >= SOME and (measure.kept or 0) < share


def _unlisted_first(audit: Audit) -> Iterator[str]:
    before = audit.before
    enough = before.pairs >= SOME and audit.unlisted_queued >= SEVERAL
    if enough and before.wrong > before.pairs / 2 and not _is_unrelated(audit):
        yield (
            f"Unlisted URIs came before listed ones in {before.wrong / before.pairs:.0%} of the"
            " pairs within hosts: the default precedence is likely missing. Set"
            " defaultUriPrecedencePolicy in the bean uriPrecedencePolicy; Heritrix's own default"
            f" puts unlisted URIs first. {BEANS}."
        )


def _hosts_in_turn(audit: Audit) -> Iterator[str]:
    if audit.log.left_out["scheduled"] or audit.log.left_out["looked-up"]:
        return  # `crawlrank recrawl` has set the policy, and its script has seen it at each page
    kept_within = audit.within.pairs < SOME or (audit.within.kept or 0) >= WELL
    if audit.host_count > 1 and kept_within and _is_kept_below(BADLY, audit.across):
        yield (
            "Within hosts the order is kept, from host to host it is not"
            f" ({audit.across.kept:.0%} of the pairs): the queue policy is likely missing. Set"
            " queuePrecedencePolicy in the bean frontier to HighestUriQueuePrecedencePolicy;"
            f" without it hosts are crawled one after the other. {BEANS}."
        )


def _is_unrelated(audit: Audit) -> bool:
    """Whether the order of fetches has little to do with the file; then chance put some first."""
    return _is_kept_below(BADLY, audit.all) and _is_kept_below(BADLY, audit.within)


def _not_loaded(audit: Audit) -> Iterator[str]:
    if _is_unrelated(audit):
        yield (
            f"The order has little to do with the file ({audit.within.kept:.0%} of the pairs"
            " within hosts are in order). Either the file was not loaded into the job's state"
            " folder before the launch, or the bean uriPrecedencePolicy is missing; or the crawl"
            " found its URIs one after the other, while `crawlrank recrawl` lets it begin"
            " with all."
        )


def _spellings(audit: Audit) -> Iterator[str]:
    if count := audit.counts["unmet"]:
        yield (
            f"{count_of(count, 'URI of the file is', 'URIs of the file are')} not in the form in"
            " which Heritrix looks them up, so"
            " their lines have no effect. `crawlrank audit` says how to write"
            " them."
        )
    others = {name: cause.spelled for name, cause in audit.unlisted.items() if cause.spelled}
    if others:
        by_cause = ", ".join(f"{name} {uris:,}" for name, uris in others.items())
        yield (
            f"Unlisted URIs that are other spellings of listed ones: {sum(others.values()):,}"
            f" ({by_cause}). Heritrix's key keeps every difference: list every spelling that was"
            " captured or linked to (`--spellings all`, the default), from a crawl that has them."
        )


def _never(audit: Audit) -> Iterator[str]:
    total = sum(row.never for row in audit.classes.values() if row.never > 0)
    missing = {number: row.missing for number, row in audit.classes.items() if row.missing > 0}
    if not missing:
        return  # what was fetched in another spelling is not missing
    if audit.log.unfinished:
        yield (
            f"{count_of(total, 'listed URI was', 'listed URIs were')} not fetched, and Heritrix"
            " has a log open or was killed"
            f" ({audit.log.unfinished[0]}.lck is there): audit again when the crawl has finished."
        )
    elif _ended_early(audit, missing):
        yield (
            f"{count_of(total, 'listed URI was', 'listed URIs were')} not fetched, all in the"
            " last class that was reached or"
            " after it: the crawl was likely ended too early."
        )
    else:
        others = f" Of {audit.respelled:,}, another spelling was fetched." * bool(audit.respelled)
        yield (
            f"{count_of(total, 'listed URI was', 'listed URIs were')} not fetched.{others} A"
            " crawl fetches what it finds, once:"
            f" the others were not linked to, out of scope or reached too late. {_cure(audit)}"
        )


def _out_of_scope(audit: Audit) -> Iterator[str]:
    if count := audit.log.left_out["out-of-scope"]:
        yield (
            f"{count_of(count, 'listed page was', 'listed pages were')} out of the scope of the job"
            f" when the crawl began: {PAGES_LOG} beside the log lists them. Widen the scope, or"
            " make pages seeds by `crawlrank recrawl --grow`."
        )


def _ended_early(audit: Audit, missing: Mapping[int, int]) -> bool:
    """Whether all missing pages are of classes after the last one that was reached, or of that
    class. Some pages of the last class are missing in every crawl."""
    reached = [number for number, row in audit.classes.items() if row.listed and row.fetched]
    if not reached or min(missing) < max(reached):
        return False
    return sum(count for number, count in missing.items() if number > max(reached)) >= SOME


def _cure(audit: Audit) -> str:
    uris = {hop: measure.uris for hop, measure in audit.hops.items()}
    if uris.get("-", 0) >= MOSTLY * sum(uris.values()):
        return "Nearly all that was fetched was a seed: see whether these are seeds and in scope."
    return "`crawlrank recrawl` begins with all of them."


def _values(audit: Audit) -> Iterator[str]:
    tied = audit.classes.get(CLIPPED)
    if tied and tied.listed > 1:
        yield (
            f"{count_of(tied.listed, 'URI has', 'URIs have')} a precedence of {CLIPPED - 1} or"
            " more, which Heritrix"
            " keeps as one class: use 1 to 125."
        )
    negative = sum(row.listed for number, row in audit.classes.items() if number > CLIPPED)
    if negative:
        yield f"URIs with a precedence below -1, which come last: {negative:,}. Use 1 to 125."
    if minus := audit.file.problems["minus one"]:
        yield f"Lines with -1, which counts as not listed: {minus:,}. Use 1 to 125."


def _clock(audit: Audit) -> Iterator[str]:
    if audit.log.clock_back:
        path, line = audit.log.clock_lines[0]
        yield (
            f"The clock went back in the log ({count_of(audit.log.clock_back, 'line')}, the"
            f" first {path},"
            f" line {line}), so times do not give the order: give the logs in the order of the"
            " crawl, with `--by line`, and one crawl at a time."
        )


def _annotated(audit: Audit) -> Iterator[str]:
    if audit.annotations:
        yield from advise_for_certain(audit.annotations)


RULES: tuple[Callable[[Audit], Iterator[str]], ...] = (
    _clock, _unlisted_first, _hosts_in_turn, _not_loaded, _spellings, _values, _never,
    _out_of_scope,
)  # fmt: skip
#: where Heritrix noted the precedence of each URI, no rule has to infer it from the order
CERTAIN = (_clock, _annotated, _hosts_in_turn, _spellings, _values, _never, _out_of_scope)
