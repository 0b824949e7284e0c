"""The page of `crawlrank lab watch` in a real browser: its controls by mouse and by keyboard, who
can use it, what hostile names do, how fast it plays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.crawls import COMMAND, environment
from support.graphs import web_like

from crawlrank.pipeline.lab.watch import Drawn, targets_of, watch_page

pytestmark = pytest.mark.browser

WIDTHS = (360, 800, 1600)
TOTAL = "app.session.ids.reduce((sum, id, page) => sum + app.session.opic.cash(page), 0)"
HOSTILE = (
    "http://a.example/</script><script>window.hurt=1</script>",
    "javascript:window.hurt=2",
    'http://a.example/"onclick="window.hurt=3"/<img src=x onerror=window.hurt=4>',
    "http://a.example/{{7*7}}${window.hurt=5}#{x}<%= 1 %>",
    "http://a.example/\u202egpj.exe\u2066\u200b\u0000\u001b[31m\ud800",
    "http://a.example/" + "x" * 8100,
    "http://a.example/" + "%20" * 2700,
    "\u0336" * 3000,
    "<!--<script>", "]]>", "&lt;b&gt;", "-", " ", "__proto__",
    "http://" + "a." * 2000 + "example/",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from support.systems.browser import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watch")


def written(folder: Path, name: str, own: Drawn | None = None) -> Path:
    path = folder / f"{name}.html"
    if not path.exists():
        path.write_text(watch_page(own), encoding="utf-8")
    return path


@pytest.fixture
def shown(browser: Any, folder: Path) -> Iterator[Any]:
    """The page with the examples; whatever it says on its console, or asks for, is an error."""
    from support.systems.browser import opened

    with opened(browser, written(folder, "examples")) as page:
        yield page
        page.require_silence()


def until(page: Any, condition: str) -> None:
    """Wait for it. Playwright's own way is refused by the policy of the page."""
    deadline = time.monotonic() + 600
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(30)


def state(shown: Any) -> dict[str, Any]:
    return dict(shown.page.evaluate("app.exported()"))


def links(shown: Any) -> list[list[int]]:
    return [page["links"] for page in state(shown)["pages"]]


def live(shown: Any) -> str:
    return str(shown.page.text_content("#live"))


def middle_of(shown: Any, page: int) -> tuple[float, float]:
    shown.page.evaluate("the.drawing.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = shown.page.locator(".hit").nth(page).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def free_point(shown: Any) -> tuple[float, float]:
    """A point of the ground, far from all pages."""
    points = [middle_of(shown, page) for page in range(shown.page.locator(".hit").count())]
    box = shown.page.locator("#pages").bounding_box()
    grid = [
        (box["x"] + box["width"] * x / 10, box["y"] + box["height"] * y / 10)
        for x in range(1, 9)
        for y in range(1, 9)
    ]
    return max(grid, key=lambda at: min(abs(at[0] - x) + abs(at[1] - y) for x, y in points))


def test_buttons_step_play_pause_and_reset(shown: Any) -> None:
    page = shown.page
    page.click("#step")
    assert state(shown)["steps"] == 1
    assert live(shown) == page.text_content("#sentence")
    assert re.match(r"Step 1: page \d is read with cash 0\.1667\.", live(shown))
    page.click("#play")
    assert page.text_content("#play") == "Pause"
    until(page, "app.session.opic.steps >= 3")
    page.click("#play")
    assert page.text_content("#play") == "Play"
    steps = state(shown)["steps"]
    page.wait_for_timeout(700)
    assert state(shown)["steps"] == steps
    assert page.text_content("#steps") == str(steps)
    page.click("#reset")
    assert (state(shown)["steps"], state(shown)["events"]) == (0, [])


def test_what_is_told_is_each_step_when_paused_and_none_while_it_plays_fast(shown: Any) -> None:
    page = shown.page
    page.evaluate("""() => { window.told = [];
      new MutationObserver(() => told.push(the.live.textContent))
        .observe(the.live, { childList: true, characterData: true, subtree: true }); }""")
    for _ in range(3):
        page.click("#step")
    assert [text[:7] for text in page.evaluate("told")] == ["Step 1:", "Step 2:", "Step 3:"]
    page.evaluate("app.setSpeed(7)")
    page.click("#play")
    until(page, "app.session.opic.steps > 40")
    page.click("#play")
    assert [text.partition(".")[0] for text in page.evaluate("told")[3:]] == ["Playing", "Paused"]


def test_keys_of_the_page(shown: Any) -> None:
    page, speed = shown.page, "app.player.speed"
    page.keyboard.press("s")
    page.keyboard.press("S")
    assert state(shown)["steps"] == 2
    before = page.evaluate(speed)
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert page.evaluate(speed) == before + 2
    page.keyboard.press("-")
    assert page.evaluate(speed) == before + 1
    assert page.text_content("#speed-text") == "8 steps a second".replace("8", "4")
    page.keyboard.press("Space")
    assert page.evaluate("app.player.playing")
    page.keyboard.press("Space")
    assert not page.evaluate("app.player.playing")
    for _ in range(30):
        page.keyboard.press("-")
    assert page.evaluate(speed) == 0
    page.uncheck("#keys")
    steps = state(shown)["steps"]
    page.keyboard.press("s")
    page.keyboard.press("+")
    assert (state(shown)["steps"], page.evaluate(speed)) == (steps, 0)


def test_keys_are_left_to_fields(shown: Any) -> None:
    page = shown.page
    page.focus("[name=new]")
    page.keyboard.type("s + - x")
    assert page.input_value("[name=new]") == "s + - x"
    assert (state(shown)["steps"], page.evaluate("app.player.speed")) == (0, 2)
    page.focus("#step")
    page.keyboard.press("Space")
    assert (state(shown)["steps"], page.evaluate("app.player.playing")) == (1, False)


def test_the_slider_sets_the_speed(shown: Any) -> None:
    shown.page.focus("#speed")
    shown.page.keyboard.press("End")
    assert shown.page.get_attribute("#speed", "aria-valuetext") == "3000 steps a second"
    shown.page.click("#play")
    until(shown.page, "app.session.opic.steps > 500")
    shown.page.click("#play")


def test_the_picture_by_keyboard(shown: Any) -> None:
    """Every page is reached by arrows, chosen by Enter, moved by Shift, removed by Delete."""
    page = shown.page
    page.locator(".hit[tabindex='0']").focus()
    reached = set()
    for key in ("PageDown",) * 6:
        page.keyboard.press(key)
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        reached.add(label.partition(",")[0])
    assert reached == {f"page {number}" for number in range(1, 7)}
    page.keyboard.press("Home")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown") * 2:
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.get_attribute(".hit >> nth=0", "aria-selected") == "true"
    assert page.is_visible("#selected")
    before = middle_of(shown, 0)
    page.keyboard.press("Shift+ArrowDown")
    after = middle_of(shown, 0)
    assert (after[0] - before[0], after[1] - before[1]) == pytest.approx((0, 12), abs=0.5)
    assert state(shown)["steps"] == 0
    page.keyboard.press("Delete")
    assert len(links(shown)) == 5
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    assert page.evaluate(TOTAL) == pytest.approx(1, abs=1e-12)


def test_arrows_lead_in_their_direction(shown: Any) -> None:
    page = shown.page
    page.select_option("#graph", "web")
    for step in ([-1, 0], [1, 0], [0, -1], [0, 1]):
        to = page.evaluate(
            "step => app.session.ids.map((id, at) => app.pages.towards(at, step))", step
        )
        moved = [(middle_of(shown, at), middle_of(shown, each)) for at, each in enumerate(to)]
        for before, after in moved:
            ahead = sum((b - a) * s for a, b, s in zip(before, after, step, strict=True))
            assert ahead > 0 or before == after
        assert sum(before != after for before, after in moved) > 15


def test_pages_and_links_by_forms_and_keyboard_while_it_plays(shown: Any) -> None:
    page = shown.page
    page.evaluate("app.setSpeed(5)")
    page.click("#play")
    page.focus("[name=new]")
    page.keyboard.type("mine")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert [each["name"] for each in state(shown)["pages"]][-1] == "mine"
    page.select_option("[name=from]", index=1)
    page.select_option("[name=to]", index=6)
    page.click("[data-act=link]")
    assert links(shown)[1] == [6]
    page.click("[data-act=link]")
    assert live(shown) == "Not possible: that link twice."
    until(page, "app.session.opic.reads[6] > 0")
    page.click("[data-act=unlink]")
    assert links(shown)[1] == []
    page.select_option("[name=gone]", index=3)
    page.click("[data-act=gone]")
    assert [each["name"] for each in state(shown)["pages"]] == ["1", "2", "3", "5", "6", "mine"]
    assert "All other pages got its cash" in live(shown)
    assert page.evaluate("app.player.playing")
    page.click("#play")
    assert page.evaluate(TOTAL) == pytest.approx(1, abs=1e-12)
    assert page.locator(".hit").count() == 6
    assert page.locator("#table tbody tr").count() == 6


def test_pages_and_links_by_mouse(shown: Any) -> None:
    page = shown.page
    page.check("[name=tool][value=add]")
    at = free_point(shown)
    page.mouse.click(*at)
    assert len(links(shown)) == 7
    until(page, "app.layout.force.alpha() < 0.01")
    page.check("[name=tool][value=link]")
    page.mouse.click(*middle_of(shown, 6))
    assert "now choose" in live(shown)
    page.mouse.click(*middle_of(shown, 0))
    assert links(shown)[6] == [0]
    until(page, "app.layout.force.alpha() < 0.01")
    page.mouse.move(*middle_of(shown, 1))
    page.mouse.down()
    page.mouse.move(*free_point(shown))
    assert page.get_attribute(".drawn-link", "d")
    page.mouse.move(*middle_of(shown, 6))
    page.mouse.up()
    assert links(shown)[1] == [6]
    until(page, "app.layout.force.alpha() < 0.01")
    page.check("[name=tool][value=remove]")
    box = page.locator("#pages").bounding_box()
    half = page.evaluate("""() => { const [a, b] = [app.drawing.point(app.session.ids[1]),
      app.drawing.point(app.session.ids[6])]; const bend = 0.04;
      return [(a[0] + b[0]) / 2 - (b[1] - a[1]) * bend / 2,
        (a[1] + b[1]) / 2 + (b[0] - a[0]) * bend / 2]; }""")
    page.mouse.click(box["x"] + half[0], box["y"] + half[1])
    assert links(shown)[1] == []
    until(page, "app.layout.force.alpha() < 0.01")
    page.mouse.click(*middle_of(shown, 6))
    assert len(links(shown)) == 6


def test_pages_are_dragged_or_moved_by_two_clicks(shown: Any) -> None:
    page = shown.page
    target = free_point(shown)
    page.mouse.move(*middle_of(shown, 2))
    page.mouse.down()
    page.mouse.move(target[0] - 5, target[1])
    page.mouse.move(*target)
    page.mouse.up()
    assert middle_of(shown, 2) == pytest.approx(target, abs=2)
    page.check("[name=tool][value=move]")
    page.mouse.click(*middle_of(shown, 4))
    target = free_point(shown)
    page.mouse.click(*target)
    assert middle_of(shown, 4) == pytest.approx(target, abs=2)
    assert state(shown)["events"] == []


def test_zoom_by_buttons(shown: Any) -> None:
    page, before = shown.page, [middle_of(shown, 0), middle_of(shown, 5)]
    page.click("#closer")
    after = [middle_of(shown, 0), middle_of(shown, 5)]
    assert after[0][1] - after[1][1] == pytest.approx(1.4 * (before[0][1] - before[1][1]), rel=0.02)
    page.click("#fit")
    assert middle_of(shown, 0) == pytest.approx(before[0], abs=1)


def test_equal_graphs_are_laid_out_alike(browser: Any, folder: Path) -> None:
    from support.systems.browser import opened

    positions = []
    for motion in ("no-preference", "reduce"):
        with opened(browser, written(folder, "examples"), reduced_motion=motion) as shown:
            shown.page.select_option("#graph", "web")
            positions.append([middle_of(shown, page) for page in range(24)])
    assert positions[0] == positions[1]
    assert len({(round(x / 8), round(y / 8)) for x, y in positions[0]}) > 20


def test_settings(shown: Any) -> None:
    page = shown.page
    for policy in ("greedy", "cycle", "random"):
        page.select_option("#policy", policy)
        page.click("#step")
    reads = [event for event in state(shown)["events"] if event[0] == "read"]
    assert reads == [["read", "greedy", 1], ["read", "cycle", 1], ["read", "random", 1]]
    assert not page.is_visible("#parameter")
    for window, parameter in (("fixed", "2.5"), ("variable", "3"), ("improved", "1")):
        page.select_option("#window", window)
        page.fill("#parameter", parameter)
        page.keyboard.press("Tab")
        assert state(shown)["window"] == {"name": window, "parameter": float(parameter)}
    page.fill("#parameter", "-1")
    page.keyboard.press("Tab")
    assert "above 0" in live(shown)
    assert page.input_value("#parameter") == "1"
    page.select_option("#virtual", "link")
    assert state(shown)["events"][-1] == ["virtual", True]
    page.fill("#seed", "5")
    page.keyboard.press("Tab")
    assert (state(shown)["seed"], state(shown)["steps"]) == (5, 0)
    page.fill("#seed", "1.5")
    page.keyboard.press("Tab")
    assert page.input_value("#seed") == "5"


def test_the_link_and_the_file_have_the_state(shown: Any, browser: Any, folder: Path) -> None:
    from support.systems.browser import opened

    page = shown.page
    page.select_option("#graph", "web")
    page.select_option("#policy", "greedy")
    page.select_option("#window", "interpolation")
    for _ in range(12):
        page.click("#step")
    page.click("[data-act=unlink]")
    page.select_option("#ring", "exact")
    page.click("#step")
    until(page, "location.hash.includes('g12;d-0-1;g1')")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    until(page, "the.live.textContent === 'The link is copied.'")
    link = page.input_value("#link")
    assert page.evaluate("navigator.clipboard.readText()") == link
    with page.expect_download() as download:
        page.click("#save")
    saved = json.loads(Path(download.value.path()).read_text())
    assert saved == state(shown)
    assert saved["schema"] == "crawlrank-watch-state/1"
    with opened(browser, link) as again:
        assert state(again) == saved
        assert again.page.input_value("#graph") == "web"
        assert again.page.input_value("#ring") == "exact"
        again.require_silence()


def test_a_link_of_another_file_says_so(shown: Any) -> None:
    page = shown.page
    page.evaluate("location.hash = '#graph=own&of=00000000&do=r5'")
    page.wait_for_selector("#problem:visible")
    assert (state(shown)["graph"], state(shown)["steps"]) == ("six", 0)
    page.evaluate("""() => { const session = Session.of(data.graphs[2], 4, windowOf("whole"),
      [["read", "cycle", 9]]); location.hash = fragmentOf(session, app); }""")
    until(page, "app.session.opic.steps === 9")
    assert (state(shown)["graph"], page.is_visible("#problem")) == ("hubs", False)


def test_the_table_has_every_number_and_sorts(shown: Any) -> None:
    page = shown.page
    for _ in range(25):
        page.keyboard.press("s")
    names = "[...document.querySelectorAll('#table tbody th')].map((cell) => cell.textContent)"
    pages = state(shown)["pages"]
    for title, key in (("Cash", "cash"), ("Exact", "exact"), ("Reads", "reads")):
        page.click(f"#table thead button:text-is('{title}')")
        order = page.evaluate(names)
        values = {each["name"]: each[key] for each in pages}
        assert [values[name] for name in order] == sorted(values.values(), reverse=True)
    assert page.get_attribute("#table th >> nth=5", "aria-sort") == "descending"
    page.click("#table thead button:text-is('Page')")
    assert page.evaluate(names) == sorted(values)
    row = page.evaluate(
        "[...document.querySelectorAll('#table tbody tr')[3].cells].map((cell) => cell.textContent)"
    )
    shown_values = [pages[3][key] for key in ("cash", "history", "importance", "exact", "reads")]
    assert row[0] == "4"
    assert list(map(float, row[1:])) == pytest.approx(shown_values, abs=5e-5)
    error = sum(abs(each["importance"] - each["exact"]) for each in pages)
    assert float(page.text_content("#error")) == pytest.approx(error, abs=5e-5)


def test_another_graph_has_names_of_its_own(shown: Any) -> None:
    page = shown.page
    for graph in ("web", "hubs", "six"):
        page.select_option("#graph", graph)
        wanted = [each["name"] for each in state(shown)["pages"]]
        assert page.locator("#table tbody th").all_text_contents() == wanted
        assert page.locator("[name=from] option").all_text_contents() == wanted
        labels = page.locator(".labels text").all_text_contents()
        assert {*labels} <= {*wanted, "virtual page"}
        spoken = page.locator(".hit").evaluate_all("all => all.map(one => one.ariaLabel)")
        assert [each.partition(",")[0] for each in spoken] == [f"page {name}" for name in wanted]


def test_the_curve_has_its_table(shown: Any) -> None:
    page = shown.page
    page.evaluate("app.session.apply(['read', 'cycle', 3000]); app.show()")
    page.click("#chart summary")
    rows = page.locator("#chart tbody tr")
    until(page, "document.querySelectorAll('#chart tbody tr').length > 10")
    assert rows.count() <= 21
    last = rows.nth(rows.count() - 1).locator("td").all_text_contents()
    assert last == ["3,000", page.text_content("#error")]
    curve = state(shown)["curve"]
    assert len(curve) <= 401
    assert curve[-1]["error"] < curve[1]["error"] / 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_who_can_use_it(width: int, scheme: str, browser: Any, folder: Path) -> None:
    """WCAG by axe, targets of 24 pixels, no sideways scroll, visible focus; also at its busiest."""
    from support.systems.browser import opened, violations

    path = written(folder, "hostile", hostile())
    with opened(browser, path, width=width, color_scheme=scheme) as shown:
        page = shown.page
        assert violations(page) == []
        page.select_option("#window", "fixed")
        page.evaluate("app.session.apply(['read', 'random', 60]); app.pick(5)")
        page.click("#chart summary")
        page.evaluate("the.problem.hidden = false; the.problem.textContent = 'A problem.'")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate("""[...document.querySelectorAll('button, select, input, summary')]
          .filter((each) => each.checkVisibility()).map((each) => [each.outerHTML.slice(0, 80),
            (each.closest('label') && each.matches('[type=radio], [type=checkbox]')
              ? each.closest('label') : each).getBoundingClientRect()])
          .filter(([, { width, height }]) => width < 24 || height < 24)""")
        assert small == []
        radii = page.evaluate("app.pages.hits.nodes().map((hit) => hit.r.baseVal.value)")
        assert min(radii) >= 12
        shown.require_silence()


FOCUSED = """() => {
  const at = document.activeElement, style = getComputedStyle(at);
  const outlined = style.outlineStyle !== "none" || style.strokeWidth === "3px";
  const name = at.id || at.name || at.className.baseVal || at.className || at.textContent;
  return [name, at === document.body || outlined];
}"""
FOCUSABLE = (
    "play step reset speed hit tool graph policy window virtual ring seed keys new from to gone"
    " copy save"
)


def test_focus_is_seen(shown: Any) -> None:
    """Everything that Tab reaches shows that it has the focus, and Tab gets through."""
    page, reached = shown.page, set()
    for _ in range(80):
        page.keyboard.press("Tab")
        name, seen = page.evaluate(FOCUSED)
        assert seen, name
        reached.add(str(name))
    assert reached >= {*FOCUSABLE.split()}


def test_without_motion_nothing_glides_or_flashes(browser: Any, folder: Path) -> None:
    from support.systems.browser import opened

    with opened(browser, written(folder, "examples"), reduced_motion="reduce") as shown:
        page = shown.page
        page.select_option("[name=from]", index=1)
        page.click("[data-act=link]")
        before = middle_of(shown, 4)
        page.wait_for_timeout(300)
        assert middle_of(shown, 4) == before
        page.click("#step")
        assert page.evaluate("app.drawing.glow") > 0
        page.evaluate("app.setSpeed(7)")
        page.click("#play")
        until(page, "app.session.opic.steps > 20")
        assert page.evaluate("app.drawing.glow") == 0
        page.click("#play")
        shown.require_silence()


def test_light_is_steady_while_steps_are_fast(shown: Any) -> None:
    """Three changes a second would flash; see WCAG 2.3.1."""
    page = shown.page
    page.evaluate("app.setSpeed(7)")
    page.click("#play")
    glows = page.evaluate("""async () => { const glows = []; for (let k = 0; k < 60; k++) {
      await new Promise(requestAnimationFrame); glows.push(app.drawing.glow); } return glows; }""")
    page.click("#play")
    assert max(abs(a - b) for a, b in pairwise(glows)) <= 0.04 + 1e-9


def hostile() -> Drawn:
    n = len(HOSTILE)
    ring = [sorted({(page + 1) % n, (page + 5) % n}) for page in range(n)]
    return Drawn("own", "</script>{{x}}\u202e", "note </script>", HOSTILE, ring, 0, (3, 4))


def test_hostile_names_neither_run_nor_break_the_page(browser: Any, folder: Path) -> None:
    from support.systems.browser import opened

    with opened(browser, written(folder, "hostile", hostile()), width=800) as shown:
        page = shown.page
        for at in range(len(HOSTILE)):
            page.evaluate(f"app.pick({at})")
            for link in page.locator("#selected a").all():
                assert re.match("https?://", link.get_attribute("href"))
                assert link.get_attribute("rel") == "noopener nofollow"
            page.click("#step")
        page.fill("[name=new]", "</script><img src=x onerror=window.hurt=9>")
        page.click("form button")
        until(page, "location.hash.includes('p-')")
        assert page.evaluate("window.hurt") is None
        text = page.evaluate("document.body.innerText + the.live.textContent")
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u0000\u001b]", text)
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
        assert page.locator("#selected").bounding_box()["height"] < 400
        fragment = page.evaluate("location.hash")
        page.goto("about:blank")
        page.goto(f"{shown.url}{fragment}")
        assert page.evaluate("app.session.names.at(-1)").startswith("</script>")
        assert page.evaluate("window.hurt") is None
        shown.require_silence()


def test_rows_in_sight_follow_while_it_plays(browser: Any, folder: Path) -> None:
    """And all of them once it is paused, in any order."""
    from support.systems.browser import opened

    graph = web_like(120, seed=2)
    own = Drawn("own", "Some", "", list(map(str, range(120))), targets_of(graph))
    cells = "[...document.querySelectorAll('#table tbody tr')].map((row) => row.cells[5].innerText)"
    with opened(browser, written(folder, "some", own)) as shown:
        page = shown.page
        page.evaluate("the.policy.value = 'cycle'; app.set({policy: 'cycle'}); app.setSpeed(9)")
        page.evaluate("document.querySelectorAll('#table tbody tr')[70].scrollIntoView()")
        page.click("#play")
        until(page, f"Number({cells}[72]) > 1")
        page.click("#table thead button:text-is('Reads')")
        until(page, f"Number({cells}[119]) > 3")
        page.click("#play")
        reads = sorted(map(int, page.evaluate(cells)))
        assert reads == sorted(each["reads"] for each in state(shown)["pages"])
        shown.require_silence()


def test_three_hundred_pages_play(browser: Any, folder: Path) -> None:
    """60 steps a second; frames are printed, as other programs may take the time."""
    from support.systems.browser import opened

    graph = web_like(300, seed=2)
    own = Drawn("own", "Many", "", list(map(str, range(300))), targets_of(graph))
    with opened(browser, written(folder, "many", own)) as shown:
        page = shown.page
        page.evaluate("app.setSpeed(7)")
        page.click("#play")
        page.wait_for_timeout(4000)
        page.click("#play")
        frames = sorted(page.evaluate("app.player.frames"))
        steps = state(shown)["steps"]
        median = frames[len(frames) // 2]
        sys.stdout.write(f"300 pages: {steps} steps, {len(frames)} frames in 4 s,"
                         f" median {median:.1f} ms, longest {frames[-1]:.0f} ms\n")  # fmt: skip
        assert steps > 60
        assert page.evaluate(TOTAL) == pytest.approx(1, abs=1e-11)
        shown.require_silence()


def test_served_on_loopback(browser: Any) -> None:
    from support.systems.browser import opened

    command = [*COMMAND, "lab", "watch", "--serve", "--idle", "1m"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(PYTHONUNBUFFERED="1")
    ) as process:
        try:
            assert process.stdout is not None
            with opened(browser, process.stdout.readline().strip()) as shown:
                shown.page.click("#step")
                assert state(shown)["steps"] == 1
                shown.require_silence()
        finally:
            process.terminate()
