"""The lines of the text datasets: a parser and a formatter for each type of row (rows.py).

All fields are bytes: keys and ids are compared, sorted and hashed as bytes on every runner, and
decoding is paid for only where text is needed. Parsers take a line without its end and raise
`BadLine`. The formats are those of the Heritrix notes: one blank in links, canonical links and
input links, a tab elsewhere; readers take one blank or one tab in the former.

Lines of links and captures count only with URIs of pages: absolute ones, http or https, in UTF-8.
surt makes a key of nearly anything: it takes `javascript:alert(1)` for a host, and `1` too. Text of
other programs has such URIs. Every runner leaves these lines out, and counts them by reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.datasets import (
    CANONICAL_LINKS,
    CAPTURES,
    FOLDS,
    GRAPH,
    INPUT_LINKS,
    LINKS,
    MAP,
    SCORES,
    URIS,
    Dataset,
)
from crawlrank.jobs.kernel.formats.rows import (
    CANONICAL_HOP,
    HOPS,
    UNKNOWN,
    UNLINKED_HOPS,
    CanonicalLink,
    Capture,
    Fold,
    GraphLine,
    InputLink,
    Link,
    MapRow,
    ScoreRow,
    UriRow,
)
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, shared_key_function
from crawlrank.jobs.kernel.storage.opening import binary_kind

AnyRow = TypeVar("AnyRow")
Parser = Callable[[bytes], AnyRow]

DUMMY = b"dummy"
START_SCORE = 1.0
MOST_SCORE = 1e18  # an id has at most 18 digits, and the scores of N nodes sum to N + 1
CANONICAL, UNLINKED = CANONICAL_HOP.encode(), UNLINKED_HOPS.encode()
# By letter: the hop under which a link of it counts, or the letter itself
COUNTED = {letter.encode(): (hop.counts_as or letter).encode() for letter, hop in HOPS.items()}

_ID = re.compile(rb"(?:0|[1-9][0-9]{0,17})\Z")
_COUNT = re.compile(rb"[0-9]{1,18}\Z")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]|\xc2[\x80-\x9f]")  # none reaches a terminal
_KEY = re.compile(rb"[!-~]+\Z")
_KINDS = re.compile(rb"(?:(?:-|//?|[?#]|[0-9]{1,2}\.[0-9]{1,4})(?:,(?!\Z)|\Z))+\Z")
_TIMESTAMP = re.compile(rb"(?:[0-9]{14}|-)\Z")


def _shown(line: bytes) -> str:
    """The line for a message: printable, and not longer than a reader can use."""
    text = ascii(line[:80].decode("utf-8", "replace"))
    return text + ("…" if len(line) > 80 else "")


def _unlike(line: bytes, dataset: Dataset) -> BadLine:
    """The error of a line that has nothing of its format."""
    if kind := binary_kind(line):
        return BadLine(f"{kind[0]}, not text", f"{dataset.expected}. {kind[1]}")
    if _CONTROL.search(line):
        return BadLine(f"a control character in {_shown(line)}", dataset.expected)
    return BadLine(_shown(line) if line else "an empty line", dataset.expected)


def _fields(line: bytes, dataset: Dataset) -> list[bytes]:
    if _CONTROL.search(line):
        raise _unlike(line, dataset)
    separator = b"\t" if b"\t" in line or dataset.separator == "\t" else b" "
    fields = line.split(separator)
    is_mixed = separator == b"\t" and b" " in line and _has_blanks(fields, dataset)
    if len(fields) not in dataset.widths or b"" in fields or is_mixed:
        raise BadLine(_shown(line) if line else "an empty line", dataset.expected)
    return fields


def _has_blanks(fields: list[bytes], dataset: Dataset) -> bool:
    """Whether there is a blank in a field that is no phrase."""
    is_phrase = dataset.phrase and len(fields) == len(dataset.columns)
    return any(b" " in field for field in (fields[:-1] if is_phrase else fields))


def parse_link(line: bytes) -> Link:
    fields = _fields(line, LINKS)
    if len(fields) > 2:
        hop = COUNTED.get(fields[2])
        if hop is None:
            raise BadLine(f"hop {_shown(fields[2])}", f"one of {', '.join(HOPS)}")
        fields[2] = hop
    if len(fields) > 3:
        _check_timestamp(fields[3])
    if len(fields) > 4 and not _KINDS.match(fields[4]):
        expected = "`-`, `//`, `/`, `?`, `#` or two numbers as in `1.2`, with commas between them"
        raise BadLine(f"kinds of references {_shown(fields[4])}", expected)
    return Link(*fields)


def parse_capture(line: bytes) -> Capture:
    fields = _fields(line, CAPTURES)
    _check_timestamp(fields[1])
    row = Capture(*fields)
    if len(fields) > CAPTURES.usual:
        _check_timestamp(row.refers_to_timestamp)
        _check_timestamp(row.modified)
    return row


def _check_timestamp(field: bytes) -> None:
    if not _TIMESTAMP.match(field):
        raise BadLine(f"timestamp {_shown(field)}", "14 digits or `-`")


def _check_keys(*keys: bytes) -> None:
    """Keys are ASCII on every runner: surt escapes what is not."""
    for key in keys:
        if not _KEY.match(key):
            raise BadLine(f"key {_shown(key)}", "printable ASCII, as canonicalize writes keys")


def parse_canonical_link(line: bytes) -> CanonicalLink:
    fields = _fields(line, CANONICAL_LINKS)
    if line.startswith((b"#", b"%")):  # a comment of two words
        raise BadLine(_shown(line), CANONICAL_LINKS.expected)
    _check_keys(*fields)
    return CanonicalLink(*fields)


def parse_uri_row(line: bytes) -> UriRow:
    key, uri, captures, links, last = _fields(line, URIS)
    if not (_COUNT.match(captures) and _COUNT.match(links) and _TIMESTAMP.match(last)):
        raise BadLine(_shown(line), URIS.expected)
    _check_keys(key)
    return UriRow(key, uri, int(captures), int(links), last)


def parse_fold(line: bytes) -> Fold:
    key, target, kind, hops = _fields(line, FOLDS)
    if not _COUNT.match(hops):
        raise BadLine(_shown(line), FOLDS.expected)
    _check_keys(key, target)
    return Fold(key, target, kind, int(hops))


def _check_id(field: bytes, line: bytes, dataset: Dataset) -> None:
    if not _ID.match(field):
        raise BadLine(f"id {_shown(field)} in {_shown(line)}", dataset.expected)


def parse_input_link(line: bytes) -> InputLink:
    fields = _fields(line, INPUT_LINKS)
    _check_id(fields[0], line, INPUT_LINKS)
    _check_keys(*fields[1:])
    return InputLink(*fields)


def parse_map_row(line: bytes) -> MapRow:
    fields = _fields(line, MAP)
    _check_id(fields[0], line, MAP)
    _check_keys(fields[1])
    return MapRow(*fields)


_GRAPH = re.compile(rb"([0-9]+|dummy)[ \t]+([^ \t]+)[ \t]+O:(.*)\Z")
_SCORE = re.compile(rb"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\Z")
_COMMAS = re.compile(rb",[ \t]*")


def parse_graph_line(line: bytes) -> GraphLine:
    """Runs of blanks and blanks after commas are taken too: the notes write them so."""
    match = _GRAPH.match(line)
    if not match:
        raise _unlike(line, GRAPH)
    node, score, rest = match.groups()
    if node != DUMMY and not _ID.match(node):
        raise BadLine(f"id {node[:20].decode()}", "at most 18 digits, no leading zero")
    if not _SCORE.match(score):
        raise BadLine(f"score {_shown(score)} of id {_shown(node)}", "a number of at least 0")
    if not 0 <= (number := float(score)) <= MOST_SCORE:
        expected = "a finite number of at least 0, at most 1e18, as all of N nodes sum to N + 1"
        raise BadLine(f"score {number} of id {node.decode()}", expected)
    return GraphLine(node, number, _targets(node, _COMMAS.split(rest.rstrip(b" \t"))))


def _targets(node: bytes, targets: list[bytes]) -> list[bytes]:
    """The targets, held to what gen-graph writes: distinct ids, never the node's own, or dummy."""
    if targets == [DUMMY]:
        return targets
    shown = node.decode()
    if node == DUMMY:
        raise BadLine("dummy with targets", "O:dummy alone")
    for target in targets:
        if not _ID.match(target):
            if target == DUMMY:
                raise BadLine(f"dummy beside other targets of id {shown}", "O:dummy alone, or ids")
            raise BadLine(f"target {_shown(target)} of id {shown}", GRAPH.expected)
    if node in targets:
        raise BadLine(f"id {shown} as a target of itself", "no self-loop")
    if len(set(targets)) != len(targets):
        raise BadLine(f"a target of id {shown} twice", "every target once")
    return targets


def parse_score_row(line: bytes) -> ScoreRow:
    """The recipe's own two columns are taken too; the key is then made from the URI, as a run
    without `--keep-www` or `--surt-exact` makes it."""
    fields = _fields(line, SCORES)
    if not _SCORE.match(fields[0]):
        raise BadLine(f"score {_shown(fields[0])}", "a number of at least 0")
    key = fields[2] if len(fields) > 2 else usable_key_function()(fields[1])
    if key is None:
        raise BadLine(f"URI {_shown(fields[1])}", "an absolute http or https URI")
    _check_keys(key)
    if not 0 <= (score := float(fields[0])) < math.inf:
        raise BadLine(f"score {score}", "a finite number of at least 0")
    return ScoreRow(score, fields[1], key)


def parse_link_or_uri_row(line: bytes) -> CanonicalLink | UriRow:
    """A line of canonical links or of uris."""
    if line.count(b"\t") == 4:
        return parse_uri_row(line)
    return parse_else(parse_canonical_link, line, URIS)


def parse_else(parser: Parser[AnyRow], line: bytes, alternative: Dataset) -> AnyRow:
    """Parse a line that might also be one of the alternative; the message names both."""
    try:
        return parser(line)
    except BadLine as error:
        expected = f"{error.expected}; or {alternative.expected}"
        raise BadLine(error.found, expected) from error


def format_link(row: Link) -> bytes:
    """A line of a link, without an unknown timestamp and unknown kinds of references at its end."""
    if row.reference != UNKNOWN:
        return b" ".join(row)
    return b" ".join(row[:4] if row.timestamp != UNKNOWN else row[:3])


def format_capture(row: Capture, *, validators: bool = False, titles: bool = False) -> bytes:
    """A line of a capture, without its title and validators unless they are asked for, and without
    the four columns before them where nothing of these is known."""
    _, usual, referring, validated, _ = CAPTURES.widths
    if titles:
        return b"\t".join(row)
    if validators:
        return b"\t".join(row[:validated])
    known = any(field != UNKNOWN for field in row[usual:referring])
    return b"\t".join(row[: referring if known else usual])


def format_uri_row(row: UriRow) -> bytes:
    return b"%s\t%s\t%d\t%d\t%s" % row


def format_fold(row: Fold) -> bytes:
    return b"%s\t%s\t%s\t%d" % row


def format_graph_line(row: GraphLine) -> bytes:
    """The score as the shortest decimal that reads back as the same double."""
    return b"%s\t%s\tO:%s" % (row.id, repr(row.score).encode(), b",".join(row.targets))


NOT_UTF8 = "not-utf-8"
DROPPED = "dropped."
_HTTP = re.compile(rb"https?://[^/?#\\]", re.IGNORECASE).match


def why_unusable(line: bytes, *uris: bytes) -> str:
    """Why a line with these URIs counts for nothing: `not-utf-8`, or a reason of uris.py, such as
    `invalid` and `scheme.javascript`; '' where nothing is wrong."""
    if not line.isascii() and not _is_utf8(line):
        return NOT_UTF8
    for uri in uris:
        if not _HTTP(uri):
            return _reason(uri)
    return ""


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _reason(uri: bytes) -> str:
    from crawlrank.jobs.kernel.keys.uris import as_crawled  # its parser takes a while to load

    reason = as_crawled(uri.decode())
    return reason if isinstance(reason, str) else "invalid"


def usable_key_function(www: Www = "strip") -> KeyFunction:
    """A function like `key_function`, which gives None also for what is no URI of a page."""
    own: Callable[[bytes], bytes | None] = shared_key_function(www)
    return lambda uri: None if why_unusable(uri, uri) else own(uri)


def require_usable(where: str, kept: int, counters: Mapping[str, int]) -> None:
    """Raises BadInput where lines were left out and none is kept."""
    reasons = {
        name.removeprefix(DROPPED): count
        for name, count in sorted(counters.items())
        if name.startswith(DROPPED) and not name.startswith(f"{DROPPED}hop.") and count
    }
    if kept or not reasons:
        return
    listed = ", ".join(f"{name} {count:,}" for name, count in reasons.items())
    raise BadInput(
        where,
        f"no line has URIs of pages (left out: {listed})",
        "absolute URIs that begin with http:// or https://",
        "Give keys or numbers to `crawlrank step import-text --canonical-links`, with `--order"
        " source-target` if the source comes first, as in most edge lists.",
    )
