"""The report in a real Chromium: quiet, readable by all, and true to its JSON; nothing runs."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.crawls import crawlrank, ok, response, write_warc
from support.paths import SAMPLES
from support.systems.browser import Opened, chromium, opened, violations
from support.waiting import awaited

from crawlrank.pipeline.analysis.report.html import report_page
from crawlrank.pipeline.pages.page import at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

CRAWLS = SAMPLES / "several-crawls"
WIDTHS = (360, 800, 1600)
SCHEMES = ("light", "dark")

SCRIPT = "<script>document.title='run'</script>"

#: what a page may try: to end an element, to be markup, a template, a control, or not the web
HOSTILE = (
    "</script><script>document.title='run'</script>",
    "\"><img src=x onerror=document.title='run'>",
    "{{7*7}}{% raw %}${7*7}<%= 7*7 %>",
    "\u202egnp.exe\u2066\u200f",
    "'onmouseover='document.title=1",
    "&lt;b&gt;&amp;",
    "?a=1&section=3&b=<img/src=x/onerror=document.title='run'>",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of several kinds of work folders, each beside its JSON."""
    folder = tmp_path_factory.mktemp("reports")
    for number in (1, 2):
        ok("run", CRAWLS / f"crawl-{number}.warc.gz", "--work", folder / f"crawl-{number}")
    ok("rank", "--work", folder / "crawl-2", "--method", "hits")
    ok("rank", "--work", folder / "crawl-2", "--method", "site")
    damaged = sorted((SAMPLES / "damaged").glob("*.gz"))
    ok("run", *damaged, CRAWLS / "crawl-1.warc.gz", "--work", folder / "damaged")
    hostile = ("--work", folder / "hostile", "--nodes", "all", "--titles", "--anchor-text")
    ok("run", hostile_archive(folder), *hostile)
    graph = folder / "graph.txt"
    graph.write_text("0\t1.0\tO:1\n1\t1.0\tO:0\ndummy\t1.0\tO:dummy\n")
    ok("step", "import-text", "--graph", graph, "--work", folder / "imported")
    unfinished = folder / "unfinished"
    crawlrank("run", CRAWLS / "crawl-1.warc.gz", "--work", unfinished, "--max-rounds", 1)
    one = write_warc(folder / "one.warc.gz", {"http://a.example/": []})
    ok("run", one, "--work", folder / "one", "--nodes", "all")
    made = {}
    for name, options in {
        "crawl-2": (
            "--against",
            folder / "crawl-1",
            *(name for label in ("run", "hits", "site") for name in ("--ranking", label)),
        ),
        "hostile": ("--replay", "https://archive.example/wayback/"),
        **dict.fromkeys(("damaged", "imported", "unfinished", "one"), ()),
    }.items():
        made[name] = folder / f"{name}.html"
        outputs = ("--output", made[name], "--json", folder / f"{name}.json")
        ok("report", "--work", folder / name, *outputs, *options)
    return made


def hostile_archive(folder: Path) -> Path:
    """Pages, hosts, media types, links, their words and titles that try what they can."""
    uris = [f"http://a.example/{number}/{text}" for number, text in enumerate(HOSTILE)]
    uris += ["http://a.example/" + "long/" * 1600, "http://a.example/ünïcödé/\u05d0\u05d1"]
    texts = [escape(HOSTILE[number % len(HOSTILE)]) for number in range(len(uris))]
    links = "".join(
        f'<a href="{uri.replace(chr(34), "%22")}">{text}</a>'
        for uri, text in zip(uris, texts, strict=True)
    )
    links += "".join(
        f'<a href="{uri}">x</a>'
        for uri in ("javascript:alert(1)", "data:text/html,x", "http://xn--a&b.example/")
    )
    records = [
        response(
            uri.replace('"', "%22"),
            f"<title>{texts[number]}</title>{links}".encode(),
            headers=f"X: {number}\r\n",
        )
        for number, uri in enumerate(uris)
    ]
    records += [
        response(f"http://a.example/type/{number}", b"x").replace(
            b"Content-Type: text/html", b"Content-Type: " + same_length("text/html", text)
        )
        for number, text in enumerate(("<b>x</b>/", '"onload=x', "{{7*7}}/x", "\u202eab/cd"))
    ]
    hosts = ("a" * 60 + ".", "xn--" + "b" * 50 + ".") * 3
    records.append(response(f"http://{''.join(hosts)}example/", links.encode()))
    path = folder / "hostile.warc"
    path.write_bytes(b"".join(records))
    return path


def same_length(expected: str, text: str) -> bytes:
    """A text of as many bytes, because records say how long they are."""
    return text.encode()[: len(expected)].ljust(len(expected), b"x")


def document_of(report: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(report.with_suffix(".json").read_text())
    return document


KINDS = ("crawl-2", "damaged", "hostile", "imported", "unfinished", "one")


def show_all(page: Page) -> None:
    """Open what is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_quiet_and_readable_by_all(
    browser: Browser, reports: dict[str, Path], kind: str, scheme: Any
) -> None:
    for width in WIDTHS if kind in ("crawl-2", "hostile") else WIDTHS[:1]:
        with opened(browser, reports[kind], width=width, color_scheme=scheme) as shown:
            assert violations(shown.page) == []
            show_all(shown.page)
            assert violations(shown.page) == []
            assert overflow(shown.page) <= 0
            shown.require_silence()


def overflow(page: Page) -> int:
    """Pixels that the page is too wide for its window."""
    width: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


@pytest.mark.smoke
def test_every_chart_is_drawn(browser: Browser, reports: dict[str, Path]) -> None:
    for report in reports.values():
        with opened(browser, report) as shown:
            charts = shown.page.locator("[data-chart]")
            for number in range(charts.count()):
                chart = charts.nth(number)
                assert chart.locator("svg").count(), chart.get_attribute("data-chart")
                tables = chart.locator("xpath=..").locator("details table tbody tr")
                assert tables.count(), f"no numbers of {chart.get_attribute('data-chart')}"


# numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_the_json(
    browser: Browser, reports: dict[str, Path], kind: str
) -> None:
    document = document_of(reports[kind])
    with opened(browser, reports[kind]) as shown:
        show_all(shown.page)
        values = shown.page.eval_on_selector_all(
            "[data-path][data-format]",
            "all => all.map(e => [e.dataset.path, e.dataset.format, e.innerText])",
        )
        assert values
        for path, form, text in values:
            require_same(text, at(document, path), form, path)
        for path, columns, rows in shown.page.evaluate(TABLES):
            compare_rows(document, path, columns, rows)
        for path, rows in shown.page.evaluate(MOVES):
            for move, row in zip(at(document, path), rows, strict=True):
                was, now = move["before"], move["after"]
                require_same(row[0], now["uri"], "uri", path)
                numbers = was["precedence"], now["precedence"], was["score"], now["score"]
                for text, value in zip(row[1:5], numbers, strict=True):
                    require_same(text, value, "number", path)
                assert row[5:] == [f"{move[kind]['count']:,}" for kind in ("won", "lost")]
        for path, rows in shown.page.evaluate(MATRICES):
            assert [[int(text.replace(",", "")) for text in row] for row in rows] == at(
                document, path
            )


TABLES = """() => [...document.querySelectorAll('table[data-path]')].map(table => [
    table.dataset.path,
    [...table.tHead.rows[0].cells].map(cell => [cell.dataset.column, cell.dataset.format]),
    [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText)),
])"""
MOVES = """() => [...document.querySelectorAll('table[data-moves]')].map(table => [
    table.dataset.moves,
    [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText)),
])"""
MATRICES = """() => [...document.querySelectorAll('table[data-matrix]')].map(table => [
    table.dataset.matrix,
    [...table.tBodies[0].rows].map(row => [...row.querySelectorAll('td')].map(c => c.innerText)),
])"""


def compare_rows(
    document: dict[str, Any], path: str, columns: list[list[str]], rows: list[list[str]]
) -> None:
    entries = at(document, path)
    assert rows or not entries, path
    assert len(rows) == min(len(entries), len(rows) if len(rows) == 25 else len(entries)), path
    for entry, row in zip(entries, rows, strict=False):
        for (name, form), text in zip(columns, row, strict=True):
            value = entry[name] if isinstance(entry, dict) else entry[int(name)]
            require_same(text, value, form, f"{path} {name}")


UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "s": 1, "min": 60, "h": 3600}
DIGITS = {"number": 1e-5, "small": 0.06, "percent": 0, "size": 0.06, "seconds": 0.06, "count": 0}


def require_same(text: str, value: Any, form: str, where: str) -> None:
    """The text says the value, by rules of its own."""
    if value is None or value == "":
        assert text == "–", where
    elif form == "uris":
        assert text.split() == value, where
    elif form in ("text", "uri"):
        begin, dots, end = text.split("\n")[0].partition("…")
        plain = shown_plainly(str(value))
        assert (plain.startswith(begin) and plain.endswith(end)) if dots else plain == begin, where
    elif form == "timestamp":
        assert re.sub("[^0-9]", "", text) == value, where
    elif form == "percent":
        share = float(text.strip("<>%").replace(",", "")) / 100
        assert abs(share - value) <= 0.000051, where
    else:
        number, _, unit = text.replace(",", "").partition(" ")
        said = float(number) * UNITS.get(unit, 1)
        assert abs(said - value) <= max(DIGITS[form] * abs(value), 0.051 * UNITS.get(unit, 0)), (
            where, text, value,
        )  # fmt: skip


def shown_plainly(text: str) -> str:
    """Without controls and marks of direction, which are escapes of either form."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


# what the crawl says


def test_nothing_of_a_crawl_runs(browser: Browser, reports: dict[str, Path]) -> None:
    report = reports["hostile"]
    shown_uris = " ".join(row["uri"] for row in document_of(report)["scores"]["best"])
    assert "script" in shown_uris
    assert "\u05d0" in shown_uris or "%D7%90" in shown_uris
    with opened(browser, report) as shown:
        show_all(shown.page)
        assert shown.page.title().startswith("Crawl report")
        assert shown.page.locator("main img, main iframe, main object").count() == 0
        titles = shown.page.locator(".described bdi").all_inner_texts()
        assert {HOSTILE[1], HOSTILE[2], HOSTILE[5]} <= {*titles}
        called = " ".join(shown.page.locator("p.called bdi").all_inner_texts())
        assert all(f"“{HOSTILE[number]}” by " in called for number in (1, 2, 5))
        without = shown.page.locator(".described:not(:has(a.replay))")
        assert without.count() == 1  # its page has an address that is too long for a link
        links = shown.page.eval_on_selector_all(
            "main a, .why a", "all => all.map(e => [e.getAttribute('href'), e.rel, e.protocol])"
        )
        for href, rel, protocol in links:
            if not href.startswith("#"):
                assert protocol in ("http:", "https:"), href
                assert set(rel.split()) == {"noopener", "nofollow"}
        text = shown.page.inner_text("main")
        assert "{{7*7}}" in text
        assert not {"\u202e", "\u2066", "\u200f"} & set(text)
        shown.require_silence()


def test_search_for_markup_finds_text(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"]) as shown:
        search = shown.page.get_by_label("Search in this table").first
        rows = shown.page.locator("#best-pages tbody tr")
        pages = document_of(reports["hostile"])["scores"]["best"]
        named = [
            " ".join(
                [
                    *(row["uri"], row["title"] or ""),
                    *(link["uri"] for link in row["why"]),
                    *(text["words"] for text in row["anchor_texts"] or ()),
                ]
            )
            for row in pages
        ]
        for text in (SCRIPT, "&section=3", "§", "&lt;b&gt;", "javascript:"):
            search.fill(text)
            expected = sum(text.lower() in names.lower() for names in named)
            awaited(lambda: rows.filter(has_text="http").count() == expected, text)  # noqa: B023
            assert (expected > 0) == (text not in ("§", "javascript:")), text
        assert shown.page.title().startswith("Crawl report")
        shown.require_silence()


# tables


@pytest.fixture(scope="module")
def large(reports: dict[str, Path]) -> Path:
    """A report of 10,000 pages."""
    document = document_of(reports["crawl-2"])
    (first, *_), digits = document["scores"]["best"], 12
    document["scores"]["best"] = [
        first
        | {
            "position": number + 1,
            "uri": f"http://host{number % 97}.example/{number * 7919 % 10_000:04}/page",
            "score": round(100 / (number + 1), digits),
            "inlinks": number * 31 % 1009,
        }
        for number in range(10_000)
    ]
    path = reports["crawl-2"].with_name("large.html")
    path.write_text(report_page(document))
    path.with_suffix(".json").write_text(json.dumps(document))
    return path


ORDER = "new DataTable('#best-pages').order([[4, 'desc'], [0, 'asc']]).draw();"


def first_rows(shown: Opened, count: int) -> list[list[str]]:
    rows: list[list[str]] = shown.page.eval_on_selector_all(
        "#best-pages tbody tr", "all => all.map(r => [...r.cells].map(c => c.innerText))"
    )
    return rows[:count]


def test_search_and_order_of_ten_thousand_rows(browser: Browser, large: Path) -> None:
    rows = document_of(large)["scores"]["best"]
    assert large.stat().st_size < 5_000_000
    with opened(browser, large) as shown:
        by_links = sorted(rows, key=lambda row: (-row["inlinks"], row["position"]))
        shown.page.evaluate(ORDER)
        assert [row[0] for row in first_rows(shown, 25)] == [
            f"{row['position']:,}" for row in by_links[:25]
        ]
        shown.page.get_by_label("Search in this table").first.fill("host13.example/0")
        matching = [row for row in by_links if "host13.example/0" in row["uri"]]
        info, counted = "#best-pages_wrapper .dt-info", f"of {len(matching)} "
        awaited(lambda: counted in shown.page.inner_text(info), counted)
        assert [row[0] for row in first_rows(shown, 3)] == [
            f"{row['position']:,}" for row in matching[:3]
        ]
        shown.require_silence()


def test_all_of_it_by_keyboard(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["crawl-2"]) as shown:
        page = shown.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        order = page.locator("#best-pages thead th", has_text="links in")
        order.locator("[tabindex='0'], button").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press(" ")
        links = [int(row[4].replace(",", "")) for row in first_rows(shown, 25)]
        assert links == sorted(links, reverse=True)
        assert links != [int(links[0])] * len(links)
        assert order.get_attribute("aria-sort") == "descending"
        page.locator("#best-pages_wrapper .dt-paging button", has_text="2").first.focus()
        page.keyboard.press("Enter")
        focused = "document.activeElement.closest('.dt-paging')?.textContent"
        awaited(lambda: page.evaluate(focused), "a focus")
        page.get_by_label("Search in this table").first.focus()
        page.keyboard.type("library")
        matching = page.locator("#best-pages tbody tr")
        named = matching.filter(has_text="library")
        awaited(lambda: 0 < matching.count() == named.count(), "a search")
        page.locator("details summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("details").first.get_attribute("open") is not None
        shown.require_silence()


def test_every_place_of_the_keyboard_can_be_seen(
    browser: Browser, reports: dict[str, Path]
) -> None:
    with opened(browser, reports["crawl-2"]) as shown:
        places = 0
        shown.page.keyboard.press("Tab")
        while shown.page.evaluate("document.activeElement !== document.body"):
            style = shown.page.evaluate("getComputedStyle(document.activeElement).outline")
            assert re.search(r"solid 3px|3px solid", style) or "3px" in style, style
            shown.page.keyboard.press("Tab")
            places += 1
        assert places > 60


def test_without_scripts_the_numbers_are_there(browser: Browser, reports: dict[str, Path]) -> None:
    document = document_of(reports["crawl-2"])
    with opened(browser, reports["crawl-2"], java_script_enabled=False) as shown:
        assert shown.page.locator("#best-pages tbody tr").count() == 25
        text = shown.page.inner_text("#best-pages")
        assert all(row["uri"] in text for row in document["scores"]["best"][:25])


def test_printed(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["crawl-2"], width=760) as shown:
        shown.page.emulate_media(media="print")
        assert not shown.page.locator("nav[aria-label=Sections]").is_visible()
        awaited(lambda: overflow(shown.page) <= 0, "charts of another width")
        assert shown.page.pdf().startswith(b"%PDF")


# a replay


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The prefix of links to the first crawl in a pywb on loopback."""
    programs = os.environ.get("CRAWLRANK_PYWB")
    assert programs, "CRAWLRANK_PYWB names no folder of pywb's programs: make test-browser"
    folder = tmp_path_factory.mktemp("pywb")
    for words in (("init", "crawl"), ("add", "crawl", str(CRAWLS / "crawl-1.warc.gz"))):
        manager = [f"{programs}/python", f"{programs}/wb-manager", *words]
        subprocess.run(manager, cwd=folder, check=True, capture_output=True, timeout=900)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = (f"{programs}/python", f"{programs}/wayback", "-b", "127.0.0.1", "-p", str(port))
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        awaited(lambda: answers(port, server), "pywb answers")
        yield f"http://127.0.0.1:{port}/crawl/"
    finally:
        server.terminate()
        server.wait()


def answers(port: int, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "pywb has ended"
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def test_links_lead_to_captures_in_a_real_replay(
    browser: Browser, replay: str, tmp_path: Path
) -> None:
    work, page, rows = tmp_path / "work", tmp_path / "report.html", tmp_path / "pages.jsonl"
    ok("run", CRAWLS / "crawl-1.warc.gz", "--work", work, "--titles", "--quiet")
    ok("report", work, "--output", page, "--replay", replay, "--quiet")
    ok("export", work, "--output", rows, "--replay", replay)
    listed = [json.loads(line) for line in rows.read_text().splitlines()]
    with opened(browser, page) as shown:
        links = shown.page.eval_on_selector_all("a.replay", "all => all.map(each => each.href)")
        captured = [row for row in listed if row["replay"]]
        assert links == [row["replay"] for row in captured if row["position"]][: len(links)]
        shown.require_silence()
    good = [row for row in captured if row["status"] == 200 and row["title"]][:5]
    assert len(good) == 5
    for row in good:
        with opened(browser, row["replay"]) as shown:
            frame = shown.page.frame_locator("iframe").first
            assert frame.locator("title").first.inner_text() == row["title"]
            (url,) = [each.url for each in shown.page.frames if "mp_/" in each.url]
            time_and_uri = row["replay"].removeprefix(replay)
            assert url == f"{replay}{time_and_uri[:14]}mp_{time_and_uri[14:]}"
