"""select_links: which captures' links count, and which pages fold into others.

Reads links with timestamps (`target source hop timestamp reference`) and captures (14 columns), as
extract_links writes them with `--timestamps` and `--canonical`. Writes the selected links (`target
source hop`), with `--captures latest` only, and always the fold candidates of keys as the side
dataset `folds` (`key<TAB>kind<TAB>target_key`), which jobs/fold_chains.py makes a table of. The
rules are in jobs/kernel/captures/choosing.py, kinds of references in
jobs/kernel/links/reference_kinds.py.

Up to six small jobs; without `latest` only the first:

  decide     captures and links of hops R and C meet at their key. Shuffle: a line for each of
             them. Memory: all that is known of one key.
  id         revisits whose original has another digest or key meet captures at the id that they
             name.
  timestamp  the rest of them, at URI and time. Shuffle of both: a line for each capture. Both run
             only if there are such revisits. They run once more for 304s that name nothing which is
             here, at what the revisits before these name.
  links      links meet the decisions at their source's key. Shuffle: every link, as its line.

Lines between the stages begin with the word of the stage that they are for: `take` (links of a
capture, for another URI or `-`), `id` and `time` (a search for the original of a revisit, at the
name that follows), `id-before` and `time-before` (likewise, at what the revisit before it names).
A search has the key and the URI of the revisit, then its further words and names, and at last
`take`, the counter of this end, and URIs and timestamps of captures.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from crawlrank.jobs.kernel.captures.choosing import (
    CANONICAL,
    CaptureRules,
    Gone,
    Named,
    Search,
    choose,
    is_original,
)
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import (
    format_link,
    parse_capture,
    parse_else,
    parse_link,
    usable_key_function,
)
from crawlrank.jobs.kernel.formats.rows import FOLD_HOPS, UNKNOWN, Capture, Link
from crawlrank.jobs.kernel.formats.side_lines import FOLDS
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.links.reference_kinds import links_at
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Outcome

TAKE, BY_ID, BY_TIME, BEFORE = b"take", b"id", b"time", b"-before"
WORDS = (TAKE, BY_ID, BY_TIME, BY_ID + BEFORE, BY_TIME + BEFORE)
FIRST, SECOND, THIRD = b"0", b"1", b"2"  # the order in which a reducer gets values
NOTHING = Capture(*[UNKNOWN] * 8)
CaptureOfKey = tuple[bytes, bytes, bytes]  # key, URI and timestamp


class CapturesJob(Job):
    """A stage that reads captures, links and lines of earlier stages, and knows where the original
    of a revisit may be."""

    WORD = b""  # of the lines that are for this stage

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--captures", choices=("union", "latest"), default="union")
        self.add_passthru_arg("--redirects", action="store_true", help="fold redirects")
        self.add_passthru_arg("--canonical", action="store_true", help="fold canonical addresses")
        self.add_passthru_arg("--gone", choices=get_args(Gone), default="last")
        self.add_passthru_arg(
            "--before", action="store_true", help="look for what the revisit before names"
        )
        self.add_passthru_arg("--www", choices=get_args(Www), default="strip", help="of keys")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        options = self.options
        self.word = self.WORD + BEFORE * options.before
        self.key_of = usable_key_function(www=options.www)
        self.rules = CaptureRules(
            options.captures == "latest", options.redirects, options.canonical, options.gone
        )

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        word, tab, rest = line.partition(b"\t")
        if tab and word in WORDS:
            if word == self.word:
                key, _, value = rest.partition(b"\t")
                yield key, joined(SECOND, value)
        elif line.count(b"\t") + 1 in CAPTURES.widths:
            capture = parse_capture(line)
            if capture_key := self.key_of(capture.uri):
                yield from self.map_capture(capture_key, capture)
        else:
            yield from self.map_link(parse_else(parse_link, line, CAPTURES))

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        raise NotImplementedError

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        """No pair in the stages that need captures only."""
        yield from ()

    def search(self, key: bytes, search: Search) -> Iterator[bytes]:
        """The lines that begin a search for the original of a revisit of that key."""
        steps = list[bytes]()
        for revisit in search.revisits:
            before = BEFORE if steps else b""
            if revisit.refers_to != UNKNOWN:
                steps += [BY_ID + before, revisit.refers_to]
            uri = revisit.uri if revisit.refers_to_uri == UNKNOWN else revisit.refers_to_uri
            named = self.key_of(uri) if revisit.refers_to_timestamp != UNKNOWN else None
            if named:
                steps += [BY_TIME + before, b"%s %s" % (named, revisit.refers_to_timestamp)]
        end = b"revisits.original" if search.is_original else b"revisits.own-outlinks"
        instead = [field for capture in search.instead for field in capture]
        yield from self.searched(key, search.revisits[0].uri, [*steps, TAKE, end, *instead])

    def searched(self, key: bytes, uri: bytes, steps: Sequence[bytes]) -> Iterator[bytes]:
        """The line for the next step of a search, or those at its end."""
        word, name, *others = steps
        if word != TAKE:
            yield joined(word, name, key, uri, *others)
            return
        self.counts[name.decode()] += 1
        for capture in zip(others[::2], others[1::2], strict=True):
            yield joined(TAKE, key, *capture, UNKNOWN)


def joined(*fields: bytes) -> bytes:
    return b"\t".join(fields)


FOLDING = FOLD_HOPS.encode()
#: counters of links and captures with and without timestamps
DATED, UNDATED, DATED_CAPTURES = TIMES = ("links.dated", "links.undated", "captures.dated")
_SENT = (
    "uri", "timestamp", "status", "digest", "kind", "id", "refers_to", "refers_to_uri",
    "refers_to_timestamp",
)  # fmt: skip


class SelectLinksDecide(CapturesJob):
    """Decides which captures of each key count, and writes the fold candidates of keys."""

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        self.counts[DATED_CAPTURES] += capture.timestamp != UNKNOWN
        yield key, joined(FIRST, *[getattr(capture, name) for name in _SENT])

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        self.counts[UNDATED if link.timestamp == UNKNOWN else DATED] += 1
        source_key = self.key_of(link.source)
        if source_key and link.hop in FOLDING and (target_key := self.key_of(link.target)):
            yield source_key, joined(SECOND, link.hop, link.source, link.timestamp, target_key)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        captures, named = list[Capture](), list[Named]()
        for order, *fields in (value.split(b"\t") for value in values):
            if order == FIRST:
                captures.append(NOTHING._replace(**dict(zip(_SENT, fields, strict=True))))
            else:
                named.append(Named(*fields))
        chosen = choose(key, captures, named, self.rules)
        for kind, target in chosen.folds:
            yield FOLDS + b"\t" + joined(key, kind, target)
        if not self.rules.latest:
            return
        self.counts["revisits"] += chosen.revisits + len(chosen.searches)
        self.counts["revisits.original"] += chosen.revisits
        for uri, timestamp in sorted(set(chosen.captures)):
            yield joined(TAKE, key, uri, timestamp, UNKNOWN)
        for search in chosen.searches:
            yield from self.search(key, search)


class OriginalsJob(CapturesJob):
    """A stage that looks for originals of revisits. Captures meet revisits under the name that
    name_of returns."""

    def name_of(self, key: bytes, capture: Capture) -> bytes | None:
        """The name by which revisits refer to the capture, if there is one."""
        raise NotImplementedError

    def original(self, some: Sequence[CaptureOfKey]) -> CaptureOfKey | None:
        """The one that revisits by a name refer to, if any. some: of the captures that have the
        name the greatest, and another one if there is one, in order."""
        raise NotImplementedError

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        if is_original(capture) and (name := self.name_of(key, capture)) is not None:
            yield name, joined(FIRST, key, capture.uri, capture.timestamp)

    def reduce_key(self, name: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        some = list[CaptureOfKey]()
        for order, *fields in (value.split(b"\t") for value in values):
            if order == FIRST:
                key, uri, timestamp = fields
                some = sorted({*some, (key, uri, timestamp)})[-2:]
                continue
            key, uri, *steps = fields
            if original := self.original(some):
                self.counts["revisits.original"] += 1
                yield joined(TAKE, *original, UNKNOWN if original[0] == key else uri)
            else:
                yield from self.searched(key, uri, steps)


class SelectLinksId(OriginalsJob):
    """Finds originals by the id that revisits name. One that several captures have names none."""

    WORD = BY_ID

    def original(self, some: Sequence[CaptureOfKey]) -> CaptureOfKey | None:
        return some[0] if len(some) == 1 else None

    def name_of(self, key: bytes, capture: Capture) -> bytes | None:
        return None if capture.id == UNKNOWN else capture.id


class SelectLinksTimestamp(OriginalsJob):
    """Finds originals by the URI and the time that revisits name: of several the one whose URI is
    the greatest."""

    WORD = BY_TIME

    def original(self, some: Sequence[CaptureOfKey]) -> CaptureOfKey | None:
        return some[-1] if some else None

    def name_of(self, key: bytes, capture: Capture) -> bytes:
        return b"%s %s" % (key, capture.timestamp)


class SelectLinksLinks(CapturesJob):
    """Writes the links of the captures that count, and their canonical addresses as fold
    candidates."""

    WORD = TAKE

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        yield key, joined(FIRST, capture.uri, capture.timestamp)

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        """A source without a key has no captures; canonicalize counts it."""
        key = self.key_of(link.source) or b"!" + link.source
        yield key, joined(THIRD, link.source, link.timestamp, link.hop, link.target, link.reference)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        known = set[tuple[bytes, bytes]]()
        taken: dict[tuple[bytes, bytes], set[bytes]] = {}
        for order, uri, timestamp, *fields in (value.split(b"\t") for value in values):
            capture = (uri, timestamp)
            if order == FIRST:
                known.add(capture)
            elif order == SECOND:
                taken.setdefault(capture, set()).add(fields[0])
            else:
                hop, target, reference = fields
                link = Link(target, uri, hop)
                for source in sorted(taken.get(capture, ())):
                    if source == UNKNOWN:
                        yield from self._selected(key, link)
                        continue
                    for one in links_at(source, link, reference, self.counts):
                        yield from self._selected(self.key_of(source), one)
                if capture not in taken and hop != b"C":
                    if capture in known:
                        self.counts["links.superseded"] += 1
                    else:  # its capture is not there, so nothing shows that it is old
                        self.counts["links.without-capture"] += 1
                        yield format_link(link)

    def _selected(self, key: bytes | None, link: Link) -> Iterator[bytes]:
        """A link of a page that has this key, or a fold candidate."""
        if link.hop != b"C":
            yield format_link(link)
        elif self.rules.canonical and key and (to := self.key_of(link.target)):
            yield FOLDS + b"\t" + joined(key, CANONICAL, to)


class SelectLinks(CapturesJob):
    DATASET = "selected"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Run the job as a program: links first, captures last on the command line."""
        with launcher.scratch("candidates") as tmp:  # the last job needs a new `output`
            candidates = tmp / "folds"
            outcome, _ = run(
                inputs[:-1], inputs[-1:], output, candidates, launcher, self.rules,
                www=self.options.www,
            )  # fmt: skip
            output.mkdir(exist_ok=True)
            shutil.move(candidates, output / "_folds")
        return outcome


def run(
    links: Sequence[PathOrUrl],
    captures: Sequence[PathOrUrl],
    output: PathOrUrl,
    candidates: PathOrUrl,
    launcher: Launcher,
    rules: CaptureRules,
    *,
    www: Www = "strip",
) -> tuple[Outcome, list[PathOrUrl]]:
    """All stages. Writes the folder `output`, with `latest` only, and folders of fold candidates in
    `candidates`, which are returned."""
    args = ["--captures", "latest" if rules.latest else "union"]
    args += ["--redirects"] * rules.redirects + ["--canonical"] * rules.canonical
    args += ["--gone", rules.gone, "--www", www]
    with launcher.workplace("select_links") as tmp:
        stages = _Stages(launcher, args, tmp)
        folds = [join(candidates, "decide")]
        stages.launch(SelectLinksDecide, [*links, *captures], {"folds": folds[0]})
        if rules.latest:
            for before in (False, True):
                for stage in (SelectLinksId, SelectLinksTimestamp):
                    if stages.has_searches():
                        stages.launch(stage, [*captures, *stages.outputs], before=before)
            folds.append(join(candidates, "links"))
            inputs = [*links, *captures, *stages.outputs]
            stages.launch(SelectLinksLinks, inputs, {"folds": folds[1]}, output)
    return stages.outcome, folds


class _Stages:
    """Stages one after the other. outcome: counters of all of them, rows of the last one."""

    def __init__(self, launcher: Launcher, args: Sequence[str], tmp: PathOrUrl) -> None:
        self._launcher, self._args, self._tmp = launcher, args, tmp
        from crawlrank.jobs.mapreduce.outcome import Outcome  # tasks start sooner without it

        self.outputs: list[PathOrUrl] = []
        self.outcome = Outcome()

    def launch(
        self,
        stage: type[CapturesJob],
        inputs: Sequence[PathOrUrl],
        side: Mapping[str, PathOrUrl] | None = None,
        output: PathOrUrl | None = None,
        *,
        before: bool = False,
    ) -> None:
        from crawlrank.jobs.mapreduce.launch import launch

        output = output or join(self._tmp, stage.__name__ + "Before" * before)
        args = [*self._args, *["--before"] * before]
        outcome = launch(stage, inputs, output, self._launcher, args, side)
        outcome.counters += self.outcome.counters
        self.outcome, self.outputs = outcome, [*self.outputs, output]

    def has_searches(self) -> bool:
        counters = self.outcome.counters
        solved = counters["revisits.original"] + counters["revisits.own-outlinks"]
        return solved < counters["revisits"]


if __name__ == "__main__":
    main(SelectLinks, SelectLinksDecide, SelectLinksId, SelectLinksTimestamp, SelectLinksLinks)
