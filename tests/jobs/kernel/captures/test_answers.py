"""Answers to other methods than GET: drawn archives give what they give without these answers, in
each order of records and by each link between them."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.crawls import ok
from support.drawing import examples
from support.growth import assert_bounded, assert_linear
from support.inputs.archive_samples import WRAPPINGS, extracted, warc

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange
from crawlrank.jobs.kernel.captures.answers import AHEAD, AHEAD_BYTES, Answers
from crawlrank.jobs.kernel.captures.archive_ranges import fit, ranges_of
from crawlrank.jobs.kernel.captures.extraction import extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Capture, method_named, method_of

METHODS = ("GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "PUT", "BREW")
CONCURRENT = "WARC-Concurrent-To: {}\r\n"


class Event(NamedTuple):
    """What was fetched once. link: which record names the other. number: of it. page: its URI."""

    number: int
    method: str
    page: int
    kind: str = "response"
    link: str = "request"
    more: str = ""  # names of other records, before or after the right one

    @property
    def uri(self) -> str:
        return f"http://h.example/{self.page}"

    def record(self, block: bytes, kind: str, fields: str, **more: str) -> bytes:
        """A record with a time of its own."""
        time = b"2024-05-06T%02d:%02d:00Z" % divmod(self.number, 60)
        record = warc(block, self.uri, kind, extra=fields, **more)
        return record.replace(b"2024-05-06T07:08:09Z", time, 1)

    def ids(self, *names: str, request: bool) -> str:
        own, other = ("q", "r") if request else ("r", "q")
        concurrent = [self.more, f"<urn:{other}{self.number}>"] if self.link in names else []
        fields = "".join(CONCURRENT.format(name) for name in concurrent if name)
        return f"WARC-Record-ID: <urn:{own}{self.number}>\r\n{fields}"

    @property
    def request(self) -> bytes:
        block = f"{self.method} /{self.page} HTTP/1.1\r\nHost: h.example\r\n\r\n".encode()
        extra = self.ids("request", "both", request=True)
        return self.record(block, "request", extra)

    @property
    def answer(self) -> bytes:
        body = b"" if self.method in ("HEAD", "OPTIONS") else b"<a href=/t%d>" % self.number
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
        extra = self.ids("response", "both", request=False)
        return self.record(block, self.kind, extra)

    @property
    def metadata(self) -> bytes:
        """A metadata record as Heritrix writes it."""
        body = f"via: http://v.example/{self.number}\r\noutlink: http://o.example/ L a/@href\r\n"
        extra = CONCURRENT.format(f"<urn:r{self.number}>")
        return self.record(body.encode(), "metadata", extra, media_type="text/anvl")


def drawn(rng: random.Random, count: int) -> tuple[list[bytes], list[Event]]:
    """Records, the two of an event up to some others apart, and the events."""
    placed, events = list[tuple[float, bytes]](), list[Event]()
    spread = rng.choice([0.2, 0.9, 8])
    for number in range(count):
        event = Event(
            number, rng.choice(METHODS), rng.randrange(9),
            rng.choice(["response", "response", "revisit", "resource"]),
            rng.choice(["request", "response", "both"]),
            rng.choice(["", "", "<urn:none>", "urn:q" + str(number)]),
        )  # fmt: skip
        records = [event.request, event.answer]
        rng.shuffle(records)
        records += [event.metadata] * rng.choice([0, 0, 1])
        offsets = sorted(rng.random() * spread for _ in records)
        placed += [
            (number + offset, record) for offset, record in zip(offsets, records, strict=False)
        ]
        events.append(event)
    return [record for _, record in sorted(placed, key=lambda one: one[0])], events


def rows_of(data: bytes, **options: Any) -> tuple[list[Any], list[Any]]:
    """Links and captures, without the offsets."""
    links, captures, damage, _ = extracted(data, **options)
    assert not damage
    return sorted(links), [capture._replace(offset=b"") for capture in captures]


def of_get(records: list[bytes], events: list[Event]) -> list[bytes]:
    others = {
        record
        for event in events if event.method != "GET"
        for record in (event.request, event.answer, event.metadata)
    }  # fmt: skip
    return [record for record in records if record not in others]


@pytest.mark.parametrize("outlinks", ["auto", "both"])
def test_answers_count_for_nothing(outlinks: str) -> None:
    for seed in range(examples(50)):
        rng = random.Random(seed)
        records, events = drawn(rng, 40)
        pack = WRAPPINGS[rng.choice(sorted(WRAPPINGS))]
        data = pack(records)
        right = rows_of(pack(of_get(records, events)), outlinks=outlinks, timestamps=True)
        assert rows_of(data, outlinks=outlinks, timestamps=True) == right, seed
        counters = extracted(data)[3]
        methods = Counter(event.method for event in events)
        for method, count in methods.items():
            name = {"BREW": "other"}.get(method, method)
            assert counters[f"dropped.capture.method.{name}"] == (count if method != "GET" else 0)
        assert counters["captures"] == methods["GET"]
        assert counters["records.request"] == len(events)
        assert not counters["dropped.request.unmatched"]


def test_ranges_give_the_same_or_do_not_fit() -> None:
    fitting = 0
    for seed in range(examples(50)):
        records, _ = drawn(random.Random(seed), 60)
        data = WRAPPINGS["each"](records)
        ranges = ranges_of(io.BytesIO(data), 2**20, len(data) // 4)
        parts = [_extracted(data, part) for part in ranges]
        if fit(ranges):
            fitting += 1
            joined = [[row for part in parts for row in part[kind]] for kind in (0, 1)]
            assert joined == _extracted(data, None)
    assert fitting


@pytest.mark.parametrize("is_first", [True, False])
def test_a_range_without_the_answer_of_a_request_does_not_fit(is_first: bool) -> None:
    head, pages = Event(0, "HEAD", 0), [Event(n, "GET", n).answer for n in range(1, 40)]
    ends = (head.request, head.answer) if is_first else (head.answer, head.request)
    for data, fits in (
        (WRAPPINGS["each"]([ends[0], *pages, ends[1]]), False),
        (WRAPPINGS["each"]([*ends, *pages]), True),
    ):
        ranges = ranges_of(io.BytesIO(data), 2**20, len(data) // 3)
        assert len(ranges) > 1
        for part in ranges:
            _extracted(data, part)
        assert fit(ranges) == fits


def _extracted(data: bytes, part: ArchiveRange | None) -> list[list[Any]]:
    rows = list(extract_runs(io.BytesIO(data), "x", ExtractionOptions(), Counter(), part=part))
    captures = [row for row in rows if isinstance(row, Capture)]
    return [captures, [row for row in rows if not isinstance(row, (Capture, Damage))]]


def counted(*records: bytes) -> tuple[int, int]:
    """Captures, and requests without an answer."""
    counters = extracted(b"".join(records))[3]
    return counters["captures"], counters["dropped.request.unmatched"]


def test_a_request_is_looked_for_in_the_records_behind() -> None:
    head = Event(1, "HEAD", 1)
    others = [Event(number, "GET", number).answer for number in range(2, 2 + AHEAD)]
    assert counted(head.answer, *others[:-1], head.request) == (AHEAD - 1, 0)
    assert counted(head.answer, *others, head.request) == (AHEAD, 0)
    assert counted(head.answer, *others, others[0], head.request) == (AHEAD + 2, 1)
    large = warc(b"x" * (AHEAD_BYTES + 1), "http://h.example/large", "resource")
    assert counted(head.answer, large, head.request) == (2, 1)
    assert counted(head.request, *others, large, head.answer) == (AHEAD + 1, 0)
    post = Event(1, "POST", 1)._replace(kind="resource")
    block = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 * AHEAD_BYTES)
    big = warc(block, post.uri, extra="WARC-Record-ID: <urn:r1>\r\n")
    assert counted(big, post.request) == (0, 0)


def test_what_is_no_answer() -> None:
    head = Event(1, "HEAD", 1)
    assert counted(Event(2, "GET", 1).answer, head.request) == (1, 1)  # another record
    other = head._replace(page=2)
    assert counted(other.answer, head.request) == (1, 1)  # of another URI
    assert counted(head.request, other.answer) == (1, 1)
    alone = warc(b"HEAD / HTTP/1.1\r\n\r\n", head.uri, "request")
    assert counted(warc(b"HTTP/1.1 200 OK\r\n\r\n", head.uri), alone) == (1, 0)  # nothing is named
    assert counted(Event(1, "GET", 1).answer, Event(1, "GET", 1).request) == (1, 0)
    third = "<urn:third>"  # that both name another record makes no pair of them
    page = Event(2, "GET", 1, link="response", more=third)
    assert counted(head._replace(more=third).request, page.answer) == (1, 1)


@pytest.mark.parametrize(
    ("block", "method"),
    [
        (b"GET / HTTP/1.1\r\n", ""), (b"get / HTTP/1.1", ""), (b"\r\nHEAD / HTTP/1.1\r\n", "HEAD"),
        (b"post\thttp://h/ HTTP/1.0", "POST"), (b"POST /", "POST"),
        (b"MKCALENDAR / HTTP/1.1", "other"),
        (b"Some words\r\nHTTP/1.1", ""), (b"", ""), (b"\x16\x03\x01 POST", ""), (b"POST", ""),
        (b"A" * 40 + b" / HTTP/1.1", ""),
    ],
)  # fmt: skip
def test_methods(block: bytes, method: str) -> None:
    assert method_of(block) == method
    assert method_named("Get") == method_named("-") == ""


def test_a_request_larger_than_is_read() -> None:
    post = Event(1, "POST", 1)
    upload = warc(
        b"POST /1 HTTP/1.1\r\n\r\n" + b"x" * 2**18, post.uri, "request",
        extra=CONCURRENT.format("<urn:r1>"),
    )  # fmt: skip
    for records in ([upload, post.answer], [post.answer, upload]):
        assert extracted(b"".join(records), max_record=2**16)[3]["captures"] == 0


def wat(event: Event, record: bytes) -> bytes:
    """The WAT of a record, as ia-web-commons makes it."""
    lines = record.split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    about: dict[str, Any] = {}
    for name, value in (line.split(": ", 1) for line in lines):
        about[name] = [about[name], value] if name in about else value
    message = {"Method": event.method, "Path": "/", "Version": "HTTP/1.1"}
    links = {"Links": [{"path": "A@/href", "url": f"/t{event.number}"}]}
    payload: dict[str, Any] = {"HTTP-Request-Metadata": {"Request-Message": message}}
    if about["WARC-Type"] != "request":
        headers = {"Content-Type": "text/html"}
        http = {"Response-Message": {"Status": "200"}, "Headers": headers, "HTML-Metadata": links}
        payload = {"HTTP-Response-Metadata": http}
    envelope = {"WARC-Header-Metadata": about, "Payload-Metadata": payload}
    text = json.dumps({"Envelope": envelope}).encode()
    return warc(text, event.uri, "metadata", media_type="application/json")


@pytest.mark.parametrize("link", ["request", "response", "both"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_wats(link: str, method: str) -> None:
    event = Event(1, method, 1, link=link, more="<urn:none>")
    for records in ([event.request, event.answer], [event.answer, event.request]):
        links, captures, damage, counters = extracted(
            b"".join(wat(event, record) for record in records)
        )
        is_page = method == "GET"
        assert (len(links), len(captures), len(damage)) == (is_page, is_page, 0)
        assert counters["wat"] == 2
        assert counters[f"dropped.capture.method.{method}"] == (not is_page)


def test_inspect_lists_them(tmp_path: Path) -> None:
    events = [Event(n, method, n) for n, method in enumerate(["GET", "HEAD", "POST", "POST"])]
    archive = tmp_path / "a.warc"
    stray = Event(9, "HEAD", 9).request
    records = [record for event in events for record in (event.answer, event.request)]
    archive.write_bytes(b"".join([*records, stray]))
    said = ok("inspect", archive, "--json", tmp_path / "j.json")
    total = json.loads((tmp_path / "j.json").read_text())["total"]
    names = ("capture.method.HEAD", "capture.method.POST", "request.unmatched")
    assert [total["dropped"][name] for name in names] == [1, 2, 1]
    assert total["examples"]["capture.method.POST"] == [events[2].uri, events[3].uri]
    assert total["captures"]["count"] == 1
    assert "answers to HEAD" in said.out


def known(count: int, waiting: int = 1000) -> Counter[str]:
    """Requests of this number without answers. waiting: names of them that are kept."""
    counters: Counter[str] = Counter()
    requests = (
        [Record("request", "http://h/", "", "", b"", n, method="POST", record_id=f"<{n}>")]
        for n in range(count)
    )
    for _ in Answers(counters, {}, waiting).known(requests):
        pass
    return counters


def test_requests_without_answers_are_counted_in_bounded_memory() -> None:
    assert known(2000, 500) == {"dropped.request.unmatched": 2000}
    assert_bounded(lambda count: known(count, 200), 1600, 40)


@pytest.mark.slow
def test_requests_without_answers_take_linear_time() -> None:
    assert_linear(known, 100_000)
