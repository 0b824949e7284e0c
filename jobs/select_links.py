"""select_links: of several captures of a page, whose links count, and which pages are one.

Reads links with timestamps (`target source hop timestamp`) and captures (14 columns), as
extract_links writes them with `--timestamps` and `--canonical`. Writes the selected links (`target
source hop`), with `--captures latest` only, and always the fold candidates of keys as the side
dataset `folds` (`key<TAB>kind<TAB>target_key`), which jobs/fold_chains.py makes a table of. What is
chosen, and why, is in jobs/kernel/captures/choosing.py.

Up to four small jobs; without `latest` the first is all:

  decide  captures and links of hops R and C meet at their key, which is decided. Shuffle: one line
          a capture and one such link. Memory: what is known of one key.
  id      revisits whose original has another digest or key meet captures at the id that they name.
  time    then at URI and time. Shuffle of both: one line a capture; only where there are such.
  links   links meet what was decided at their source's key. Shuffle: every link, as its line.

Lines between the jobs begin with a word: `take` (links of a capture, for another URI or `-`), `id`
and `time` (a revisit, and where its original may be).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jobs.kernel.captures.choosing import CANONICAL, Named, Rules, choose, is_original
from jobs.kernel.formats.lines import (
    CAPTURE,
    CAPTURE_WIDTHS,
    UNKNOWN,
    Capture,
    Link,
    format_link,
    parse_capture,
    parse_else,
    parse_link,
)
from jobs.kernel.formats.side_lines import FOLDS
from jobs.kernel.formats.usable import usable_key_function
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Job, Pair
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome

TAKE, BY_ID, BY_TIME = b"take", b"id", b"time"
FIRST, SECOND, THIRD = b"0", b"1", b"2"  # the order in which a reducer gets values
#: counters that tell of links of an extraction that left out when they were found
DATED, UNDATED, DATED_CAPTURES = TIMES = ("links.dated", "links.undated", "captures.dated")
_SENT = (
    "uri", "timestamp", "status", "digest", "kind", "id", "refers_to", "refers_to_uri",
    "refers_to_timestamp",
)  # fmt: skip
_NOTHING = Capture(*[UNKNOWN] * 8)


def _line(*fields: bytes) -> bytes:
    return b"\t".join(fields)


class SelectLinks(Job):
    DATASET = "selected"
    SIDE_DATASETS = ("folds",)

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--captures", choices=("union", "latest"), default="union")
        self.add_passthru_arg("--redirects", action="store_true", help="fold redirects")
        self.add_passthru_arg("--canonical", action="store_true", help="fold canonical addresses")
        self.add_passthru_arg("--keep-www", action="store_true", help="keep `www.` in keys")
        self.add_passthru_arg(
            "--stage", choices=("decide", "id", "time", "links"), default="decide",
            help="set by run()",
        )  # fmt: skip

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        options = self.options
        self._key_of = usable_key_function(keep_www=options.keep_www)
        self._rules = Rules(options.captures == "latest", options.redirects, options.canonical)

    def map_line(self, line: bytes) -> Iterator[Pair]:
        word, tab, rest = line.partition(b"\t")
        if tab and word in (TAKE, BY_ID, BY_TIME):
            yield from self._map_decided(word, rest)
        elif line.count(b"\t") + 1 in CAPTURE_WIDTHS:
            capture = parse_capture(line)
            if key := self._key_of(capture.uri):
                yield from self._map_capture(key, capture)
        else:
            yield from self._map_link(parse_else(parse_link, line, CAPTURE))

    def _map_capture(self, key: bytes, capture: Capture) -> Iterator[Pair]:
        stage, place = self.options.stage, (capture.uri, capture.timestamp)
        if stage == "decide":
            self.counts[DATED_CAPTURES] += capture.timestamp != UNKNOWN
            yield key, _line(FIRST, *[getattr(capture, name) for name in _SENT])
        elif stage == "links":
            yield key, _line(FIRST, *place)
        elif is_original(capture):
            if stage == "time":
                yield b"%s %s" % (key, capture.timestamp), _line(FIRST, key, *place)
            elif capture.id != UNKNOWN:
                yield capture.id, _line(FIRST, key, *place)

    def _map_link(self, link: Link) -> Iterator[Pair]:
        if self.options.stage == "decide":
            self.counts[UNDATED if link.timestamp == UNKNOWN else DATED] += 1
        source_key = self._key_of(link.source)
        if self.options.stage == "links":  # without a key nothing is known, and canonicalize tells
            key = source_key or b"!" + link.source
            yield key, _line(THIRD, link.source, link.timestamp, link.hop, link.target)
        elif source_key and link.hop in b"RC" and (target_key := self._key_of(link.target)):
            yield source_key, _line(SECOND, link.hop, link.source, link.timestamp, target_key)

    def _map_decided(self, word: bytes, rest: bytes) -> Iterator[Pair]:
        stage = {TAKE: "links", BY_ID: "id", BY_TIME: "time"}[word]
        if stage == self.options.stage:
            place, _, value = rest.partition(b"\t")
            yield place, _line(SECOND, value)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.split(b"\t") for value in values)
        if self.options.stage == "decide":
            yield from self._decide(key, rows)
        elif self.options.stage == "links":
            yield from self._select(key, rows)
        else:
            yield from self._find(rows)

    # decide: what of a key counts

    def _decide(self, key: bytes, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        captures, named = list[Capture](), list[Named]()
        for order, *fields in rows:
            if order == FIRST:
                captures.append(_NOTHING._replace(**dict(zip(_SENT, fields, strict=True))))
            else:
                named.append(Named(*fields))
        chosen = choose(key, captures, named, self._rules)
        for kind, target in chosen.folds:
            yield FOLDS + b"\t" + _line(key, kind, target)
        if not self._rules.latest:
            return
        self.counts["revisits"] += chosen.revisits
        self.counts["revisits.original"] += chosen.revisits - len(chosen.lost)
        for place in sorted(set(chosen.places)):
            yield _line(TAKE, key, *place, UNKNOWN)
        for revisit in chosen.lost:
            yield self._elsewhere(key, revisit)

    def _elsewhere(self, key: bytes, revisit: Capture, *, id_known: bool = True) -> bytes:
        """Where the original of a revisit is to be looked for; if nowhere, its own links count."""
        place = (key, revisit.uri, revisit.timestamp)
        named = (revisit.refers_to_uri, revisit.refers_to_timestamp)
        if id_known and revisit.refers_to != UNKNOWN:
            return _line(BY_ID, revisit.refers_to, *place, *named)
        refers_key = self._key_of(named[0]) if UNKNOWN not in named else None
        if refers_key:
            return _line(BY_TIME, b"%s %s" % (refers_key, named[1]), *place)
        self.counts["revisits.own-outlinks"] += 1
        return _line(TAKE, *place, UNKNOWN)

    # id and time: originals of revisits

    def _find(self, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        originals = list[list[bytes]]()
        for order, *fields in rows:
            if order == FIRST:
                originals.append(fields)
                continue
            key, uri, timestamp, *named = fields
            if originals:
                self.counts["revisits.original"] += 1
            else:
                revisit = _NOTHING._replace(uri=uri, timestamp=timestamp)
                if named:
                    refers_to_uri, refers_to_timestamp = named
                    revisit = revisit._replace(
                        refers_to_uri=refers_to_uri, refers_to_timestamp=refers_to_timestamp
                    )
                yield self._elsewhere(key, revisit, id_known=False)
            for original, *place in originals:
                yield _line(TAKE, original, *place, UNKNOWN if original == key else uri)

    # links: those of the places that were taken

    def _select(self, key: bytes, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        known = set[tuple[bytes, bytes]]()
        taken: dict[tuple[bytes, bytes], set[bytes]] = {}
        for order, uri, timestamp, *fields in rows:
            place = (uri, timestamp)
            if order == FIRST:
                known.add(place)
            elif order == SECOND:
                taken.setdefault(place, set()).add(fields[0])
            else:
                hop, target = fields
                yield from self._selected(key, Link(target, uri, hop), taken.get(place, ()))
                if place not in taken and hop != b"C":
                    if place in known:
                        self.counts["links.superseded"] += 1
                    else:  # of a capture that is not there, so that nothing says that it is old
                        self.counts["links.without-capture"] += 1
                        yield format_link(Link(target, uri, hop))

    def _selected(
        self, key: bytes, link: Link, sources: Sequence[bytes] | set[bytes]
    ) -> Iterator[bytes]:
        """The link for each URI that its capture stands for; `-` for the source itself."""
        for source in sorted(sources):
            source_key = key if source == UNKNOWN else self._key_of(source)
            if link.hop != b"C":
                yield format_link(link if source == UNKNOWN else link._replace(source=source))
            elif self._rules.canonical and source_key and (to := self._key_of(link.target)):
                yield FOLDS + b"\t" + _line(source_key, CANONICAL, to)

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Alone: links first, captures last on the command line."""
        outcome, _ = run(
            inputs[:-1], inputs[-1:], output, output / "_folds", launcher, self._rules,
            keep_www=self.options.keep_www,
        )  # fmt: skip
        return outcome


Places = Sequence[Place]


def run(
    links: Places,
    captures: Places,
    output: Place,
    candidates: Place,
    launcher: Launcher,
    rules: Rules,
    *,
    keep_www: bool = False,
) -> tuple[Outcome, list[Place]]:
    """All stages. Writes the folder `output`, with `latest` only, and in `candidates` the folders
    of fold candidates that are returned."""
    args = ["--captures", "latest" if rules.latest else "union"]
    args += ["--redirects"] * rules.redirects + ["--canonical"] * rules.canonical
    args += ["--keep-www"] * keep_www
    with launcher.workplace("select_links") as tmp:
        stages = _Stages(launcher, args, tmp)
        found = [join(candidates, "decide")]
        stages.launch("decide", [*links, *captures], {"folds": found[0]})
        if rules.latest:
            for stage in ("id", "time"):
                if stages.has_lost_revisits():
                    stages.launch(stage, [*captures, *stages.outputs])
            found.append(join(candidates, "links"))
            inputs = [*links, *captures, *stages.outputs]
            stages.launch("links", inputs, {"folds": found[1]}, output)
    return stages.outcome, found


class _Stages:
    """Stages one after the other; what all of them told, but the rows, which are the last one's."""

    def __init__(self, launcher: Launcher, args: Sequence[str], tmp: Place) -> None:
        self._launcher, self._args, self._tmp = launcher, args, tmp
        self.outputs: list[Place] = []
        self.outcome = Outcome()

    def launch(
        self,
        stage: str,
        inputs: Places,
        side: Mapping[str, Place] | None = None,
        output: Place | None = None,
    ) -> None:
        output, args = output or join(self._tmp, stage), [*self._args, "--stage", stage]
        done = launch(SelectLinks, inputs, output, self._launcher, args, side)
        done.counters += self.outcome.counters
        self.outcome, self.outputs = done, [*self.outputs, output]

    def has_lost_revisits(self) -> bool:
        counters = self.outcome.counters
        found = counters["revisits.original"] + counters["revisits.own-outlinks"]
        return found < counters["revisits"]


if __name__ == "__main__":
    main(SelectLinks)
