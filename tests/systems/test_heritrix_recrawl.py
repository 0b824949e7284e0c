"""`recrawl` with a real Heritrix: named hosts, charsets, threads, checkpoints, its own store."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from heritrix.job import Job, write_job
from heritrix.log import pages, read_log
from heritrix.made_site import Answer
from heritrix.named_site import GONE, HOSTS, named_answers, named_options, named_plan
from heritrix.recrawl import rank
from heritrix.running import console, run_job
from heritrix.serving import NOT_FOUND, server
from support.crawls import crawlrank, ok
from support.paths import HERITRIX
from support.systems.heritrix_crawls import home
from support.waiting import awaited

from crawlrank.pipeline.heritrix.home import HeritrixHome
from crawlrank.pipeline.heritrix.rest import LOGIN, HeritrixEngine, JobStatus, read_login
from crawlrank.pipeline.heritrix.verification import load_precedences, verify

__all__ = ["home"]
pytestmark = pytest.mark.heritrix
BINS = 10
#: after seeds: robots.txt forbids nothing here, so nothing waits that is no seed


class Web:
    """What the server answers now."""

    answers: Mapping[str, Answer]

    def answer(self, uri: str) -> Answer:
        return self.answers.get(uri, NOT_FOUND)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recrawl")


@pytest.fixture(scope="module")
def web() -> Web:
    return Web()


@pytest.fixture(scope="module")
def proxy(web: Web) -> Iterator[str]:
    web.answers = named_answers()
    with server("127.0.0.1", web.answer) as url:
        yield url


def job_of(home: Path, folder: Path, proxy: str, name: str, **settings: str) -> Job:
    (folder / "jobs").mkdir(exist_ok=True)
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return write_job(home, folder / "jobs" / name, named_plan(proxy, named))


@pytest.fixture(scope="module")
def first(home: Path, folder: Path, proxy: str) -> Job:
    job = job_of(home, folder, proxy, "first")
    run_job(home, job, options=named_options(folder))
    return job


@pytest.fixture(scope="module")
def work(first: Job, folder: Path, web: Web) -> Path:
    rank(first.archives, folder / "work", "--bins", str(BINS))
    web.answers = named_answers(crawl=2)
    return folder / "work"


def make_ready(home: Path, job: Job, work: Path, *options: str) -> str:
    return ok("recrawl", "--job", job.folder, "--work", work, "--heritrix", home, *options).out


def audit_of(job: Job, work: Path) -> dict[str, Any]:
    file = work / "precedence.txt"
    data: dict[str, Any] = json.loads(ok("audit", file, job.crawl_log, "--json", "-").out)
    return data


def require_all_noted(audit: Mapping[str, Any], more_than: int = 200) -> None:
    """Every listed URI was scheduled with the precedence of the file."""
    noted = audit["annotations"]
    assert noted["right"] > more_than
    assert noted["as_unlisted"] == noted["other"] == noted["known"] == 0


@pytest.fixture(scope="module")
def second(home: Path, folder: Path, proxy: str, work: Path) -> Job:
    job = job_of(home, folder, proxy, "second")
    said = make_ready(home, job, work)
    assert "The job is ready." in said
    run_job(home, job, options=named_options(folder))
    return job


# ---- the store -------------------------------------------------------------------------------


def test_heritrix_finds_every_uri_that_was_captured_or_linked_to(
    home: Path, first: Job, second: Job, work: Path, tmp_path: Path
) -> None:
    """By its own policy: pages of all charsets, and targets that only links name."""
    linked = tmp_path / "linked.txt"
    # Heritrix takes a host without www for the one with it, and has read no page of it
    uris = [uri for uri in named_answers() if not uri.startswith("http://a.example/")]
    uris.append("http://a.example/")
    linked.write_text("".join(f"{uri}\n" for uri in uris))
    said = ok(
        "audit", work / "precedence.txt", first.crawl_log, linked,
        "--state", second.state, "--heritrix", home, "--json", "-",
    )  # fmt: skip
    counts = json.loads(said.out)
    assert counts["right"] == counts["lines"] > 250
    assert counts["missing"] == counts["other"] == counts["replaced"] == 0
    fetched = [fetch for fetch in pages(first.crawl_log) if not fetch.hops.endswith(("P", "I"))]
    assert counts["uris"] == len(fetched) + len(uris)
    assert counts["unlisted"] == counts["no_URI"] == 0
    queries = {fetch.uri for fetch in fetched if "/find?" in fetch.uri}
    assert len(queries) > 8 * (len(HOSTS) - 1)  # of one host with and without www, either


def test_aliases_find_what_a_crawl_may_meet_under_another_name(
    home: Path, work: Path, tmp_path: Path
) -> None:
    """No page was read of the host without www, and none by https; both may be met next time."""
    file, state, uris = tmp_path / "precedence.txt", tmp_path / "state", tmp_path / "uris.txt"
    ok("export", "--work", work, "--output", file, "--aliases", "scheme,www")
    both = [uri.replace("http:", "https:") for uri in named_answers()] + [*named_answers()]
    uris.write_text("".join(f"{uri}\n" for uri in both))
    loaded = load_precedences(HeritrixHome(home), file, state)
    counts = verify(HeritrixHome(home), state, file, [uris]).counts
    assert loaded == counts["right"] == counts["lines"]
    assert counts["listed"] == len(both)
    summary = json.loads(file.with_suffix(".summary.json").read_text())
    assert summary["hosts_captured"] == summary["hosts_captured_by_one_scheme"] == len(HOSTS) - 1


def test_another_file_and_an_unknown_uri_are_told(
    home: Path, second: Job, work: Path, tmp_path: Path
) -> None:
    lines = (work / "precedence.txt").read_text().splitlines()
    uri, precedence = lines[0].split()
    other = tmp_path / "precedence.txt"
    changed = [f"{uri} {int(precedence) + 1}", "http://new.example/ 3", lines[1], *lines[1:]]
    other.write_text("\n".join(changed) + "\n")
    uris = tmp_path / "uris.txt"
    uris.write_text("http://nowhere.example/\nno uri\n" + uri + "\n")
    said = crawlrank(
        "audit", other, uris, "--state", second.state, "--heritrix", home,
    )  # fmt: skip
    assert said.code == 4
    assert "1 another precedence, and does not find 1" in said.err
    table = [line.rsplit(None, 1)[-1] for line in said.out.splitlines()[2:13]]
    assert table == [str(len(changed)), str(len(changed) - 2), "0", "1", "1", str(len(lines)),
                     "0", "3", "1", "1", "1"]  # fmt: skip


def test_a_line_that_a_later_one_replaces_is_no_fault(
    home: Path, first: Job, work: Path, tmp_path: Path
) -> None:
    lines = (work / "precedence.txt").read_text().splitlines()
    file = tmp_path / "work" / "precedence.txt"
    file.parent.mkdir()
    file.write_text("\n".join([lines[0].split()[0] + " 9", *lines]) + "\n")
    state = tmp_path / "state"
    assert load_precedences(HeritrixHome(home), file, state) == len(lines) + 1
    counts = verify(HeritrixHome(home), state, file).counts
    assert (counts["right"], counts["replaced"]) == (len(lines), 1)
    assert (counts["stored"], counts["stale"]) == (len(lines), 0)


def test_precedences_of_an_earlier_file_are_told(home: Path, work: Path, tmp_path: Path) -> None:
    """They are as many as the later file lists no more."""
    lines = (work / "precedence.txt").read_text().splitlines(keepends=True)
    file, state = tmp_path / "precedence.txt", tmp_path / "state"
    for some in (lines, lines[7:]):
        file.write_text("".join(some))
        load_precedences(HeritrixHome(home), file, state)
    verify_it = ("audit", file, "--state", state, "--heritrix", home)
    said = ok(*verify_it)
    assert re.search(r"of an earlier file: .* 7$", said.out, re.MULTILINE)
    assert "7 precedences in the store are of an earlier file" in said.err
    assert "make a new job" in said.err
    shutil.rmtree(state)
    load_precedences(HeritrixHome(home), file, state)
    assert ok(*verify_it).err == ""


# ---- the order -------------------------------------------------------------------------------


def test_with_one_thread_nothing_is_late(second: Job, work: Path) -> None:
    audit = audit_of(second, work)
    require_all_noted(audit)
    assert audit["annotations"]["late"] == 0
    assert audit["order"]["within_hosts"]["wrong"] == 0
    assert audit["order"]["by_hop"]["-"]["wrong"] == 0
    statuses = {fetch.uri: fetch.status for fetch in pages(second.crawl_log)}
    for path, status in GONE.items():
        assert statuses[f"http://b.example{path}"] == status


def test_without_the_file_hundreds_are(first: Job, work: Path) -> None:
    audit = audit_of(first, work)
    assert audit["order"]["within_hosts"]["kept"] < 0.9
    assert any("uriPrecedencePolicy is missing" in sentence for sentence in audit["advice"])


def test_ten_threads_keep_the_order_within_hosts(
    home: Path, folder: Path, proxy: str, work: Path
) -> None:
    job = job_of(home, folder, proxy, "threads", crawlController__maxToeThreads="10")
    make_ready(home, job, work)
    run_job(home, job, options=named_options(folder))
    audit = audit_of(job, work)
    require_all_noted(audit)
    assert audit["order"]["within_hosts"]["wrong"] == 0
    assert audit["annotations"]["late_seeds"] == 0


def test_discovery_from_the_seeds_of_the_job(
    home: Path, folder: Path, proxy: str, work: Path
) -> None:
    """All that is found late was found late, and nothing else is wrong."""
    job = job_of(home, folder, proxy, "found")
    make_ready(home, job, work, "--seeds-only")
    run_job(home, job, options=named_options(folder))
    audit = audit_of(job, work)
    require_all_noted(audit)
    assert audit["order"]["by_hop"]["-"]["uris"] == 1
    assert not [sentence for sentence in audit["advice"] if "not loaded" in sentence]


def earlier(job: Job, path: Path, by: timedelta) -> Path:
    """The archives of a job as one, with earlier dates of capture."""

    def moved(date: re.Match[bytes]) -> bytes:
        moment = datetime.fromisoformat(date[2].decode().replace("Z", "+00:00")) - by
        return date[1] + moment.strftime("%Y-%m-%dT%H:%M:%SZ").encode()

    records = b"".join(gzip.decompress(archive.read_bytes()) for archive in job.archives)
    path.write_bytes(re.sub(rb"(WARC-Date: )(\S+)", moved, records))
    return path


def test_a_recrawl_of_what_is_due_fetches_that_and_nothing_else(
    home: Path, folder: Path, proxy: str, first: Job, second: Job
) -> None:
    """The first crawl was a month before the second, by its dates, and the next one is a month
    later."""
    month = timedelta(days=30)
    rank([earlier(first, folder / "earlier.warc", month)], folder / "work1", "--bins", str(BINS))
    rank(second.archives, folder / "work2", "--bins", str(BINS))
    ok(
        "plan", "--work", folder / "work1", "--work", folder / "work2", "--budget", "60/day",
        "--due", "2d", "--from", (datetime.now(timezone.utc) + month).isoformat(),
        "--output", folder / "plan",
    )  # fmt: skip
    seed = "http://www.a.example/never"  # of the job: neither crawl has it, so it is not due
    plan = replace(named_plan(proxy, {}), seeds=[seed])
    job = write_job(home, folder / "jobs" / "due", plan)
    beans = job.folder / "crawler-beans.cxml"
    rule = b'<bean class="org.archive.modules.deciderules.TooManyHopsDecideRule"'
    hops = rule + b'><property name="maxHops" value="0"/></bean>'
    before = beans.read_bytes()
    assert len(re.findall(rule + rb"\s*/>|" + rule + rb">\s*</bean>", before)) == 1
    beans.write_bytes(re.sub(rule + rb"\s*/>|" + rule + rb">\s*</bean>", hops, before))
    said = ok("recrawl", "--job", job.folder, "--plan", folder / "plan", "--heritrix", home).out
    assert "The job is ready." in said
    run_job(home, job, options=named_options(folder))
    due = [line.split()[0] for line in (folder / "plan" / "precedence.txt").open()]
    assert 100 <= len(due) <= 120
    fetched = [fetch.uri for fetch in pages(job.crawl_log) if not fetch.hops.endswith(("P", "I"))]
    assert {*fetched} == {*due, seed}
    # a queue of another host may have to wait until the seed's is done
    assert [uri for uri in fetched if uri.startswith("http://www.a.example/")][-1] == seed
    audit = audit_of(job, folder / "plan")
    assert audit["order"]["within_hosts"]["wrong"] == 0
    assert audit["annotations"]["right"] == len(due)


# ---- over REST -------------------------------------------------------------------------------


def test_build_launch_wait_and_audit_over_rest(
    home: Path, folder: Path, proxy: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(home, folder, proxy, "rest")
    base = ("recrawl", "--job", job.folder, "--work", work, "--heritrix", home)
    before = (job.folder / "crawler-beans.cxml").read_bytes()
    with console(home, folder / "jobs", options=named_options(folder)) as (url, login):
        monkeypatch.setenv(LOGIN, login)
        unknown = crawlrank(*base, "--rest", url)
        assert unknown.code == 3
        fingerprint = unknown.err.partition("its SHA-256 is ")[2].partition(";")[0]
        wrong = crawlrank(*base, "--rest", url, "--certificate", "0" * 64)
        assert (wrong.code, fingerprint in wrong.err) == (3, True)
        monkeypatch.setenv(LOGIN, "admin:wrong")
        refused = crawlrank(*base, "--rest", url, "--certificate", fingerprint)
        assert (refused.code, "user or password are wrong" in refused.err) == (3, True)
        assert (job.folder / "crawler-beans.cxml").read_bytes() == before
        monkeypatch.setenv(LOGIN, login)
        done = ok(*base, "--rest", url, "--certificate", fingerprint.upper())
        steps = [line[6:] for line in done.err.splitlines() if line.startswith("rest: ")]
        assert steps == ["build", "launch", "unpause", "Finished: FINISHED"]
        assert login not in done.out + done.err
        again = ok(*base, "--rest", url, "--insecure")
        assert "--insecure" in again.err
    audit = audit_of(job, work)
    require_all_noted(audit)
    assert audit["annotations"]["late"] == 0


def test_a_resume_from_a_checkpoint_is_not_late(
    home: Path, folder: Path, proxy: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(
        home, folder, proxy, "resumed", disposition__minDelayMs="150", disposition__maxDelayMs="150"
    )
    make_ready(home, job, work)
    with console(home, folder / "jobs", options=named_options(folder)) as (url, login):
        monkeypatch.setenv(LOGIN, login)
        engine = HeritrixEngine(url, read_login(None), is_trusted=True)

        def wait_until(is_so: Callable[[JobStatus], bool]) -> None:
            awaited(lambda: (now := engine.job("resumed")) and is_so(now), "state")

        def is_paused(now: JobStatus) -> bool:
            return now.state == "PAUSED"

        engine.act("resumed", "build")
        engine.act("resumed", "launch")
        wait_until(is_paused)
        engine.act("resumed", "unpause")
        awaited(lambda: job.crawl_log.exists() and len(read_log(job.crawl_log)) >= 60, "60 lines")
        locked = crawlrank("recrawl", "--job", job.folder, "--work", work, "--heritrix", home)
        assert (locked.code, "a job of Heritrix has it open" in locked.err) == (3, True)
        active = crawlrank(
            "recrawl", "--job", job.folder, "--work", work, "--heritrix", home, "--rest", url,
            "--insecure",
        )  # fmt: skip
        assert (active.code, "the job is Active" in active.err) == (3, True)
        engine.act("resumed", "pause")
        wait_until(is_paused)
        before = [fetch.uri for fetch in read_log(job.crawl_log)]
        engine.act("resumed", "checkpoint")
        wait_until(lambda _: any(job.folder.rglob("cp*/valid")))
        engine.act("resumed", "terminate")
        wait_until(lambda now: now.is_finished)
        engine.act("resumed", "teardown")
        options = ("--rest", url, "--insecure", "--checkpoint", "latest")
        said = ok("recrawl", "--job", job.folder, "--work", work, "--heritrix", home, *options)
        assert "resumed: told to look for its best queue anew" in said.err
    whole = ok("audit", work / "precedence.txt", job.folder).out
    assert whole in said.out  # of both launches
    log = ok("audit", work / "precedence.txt", job.crawl_log).out
    assert log not in said.out
    after = [fetch.uri for fetch in read_log(job.crawl_log)]
    assert len(before) >= 60
    assert len(after) > 20  # the faster the crawl goes beside this test, the fewer are left
    assert len({*before} & {*after}) < 20
    audit = audit_of(job, work)
    require_all_noted(audit, more_than=len(after) * 2 // 3)
    assert audit["order"]["within_hosts"]["wrong"] == 0


# ---- the files of the job --------------------------------------------------------------------

PROFILE = (HERITRIX / "profile-crawler-beans.cxml").read_bytes()
CONTACT = (b"ENTER_AN_URL_WITH_YOUR_CONTACT_INFO_HERE_FOR_WEBMASTERS_AFFECTED_BY_YOUR_CRAWL",
           b"http://127.0.0.1/")  # fmt: skip
FOREIGN = (
    b"</beans>",
    b'<bean id="uriPrecedencePolicy" class="org.archive.crawler.frontier.precedence.'
    b'CostUriPrecedencePolicy"/>\r\n</beans>',
)
OTHER_ORDER = (
    b' <bean id="frontier"',
    b" <!-- ours -->\r\n <bean\r\n  class='java.lang.Object' id='ours'/>\r\n <bean id=\"frontier\"",
)


@pytest.mark.parametrize(
    "changes", [[], [OTHER_ORDER], [FOREIGN]], ids=["shipped", "other", "foreign"]
)
def test_profiles_build_and_come_back(
    home: Path, folder: Path, work: Path, changes: list[tuple[bytes, bytes]],
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    data = PROFILE.replace(*CONTACT)
    for change in changes:
        assert data.count(change[0]) == 1
        data = data.replace(*change)
    name = f"profile-{request.node.callspec.id}"
    path = folder / "jobs" / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "crawler-beans.cxml").write_bytes(data)
    for _ in range(2):  # also on one that is patched already
        make_ready(home, Job(path), work)
        with console(home, folder / "jobs") as (url, login):
            monkeypatch.setenv(LOGIN, login)
            engine = HeritrixEngine(url, read_login(None), is_trusted=True)
            engine.act(name, "build")
            status = engine.job(name)
            assert status is not None
            assert status.is_built, status.log
    ok("recrawl", "--job", path, "--undo")
    assert (path / "crawler-beans.cxml").read_bytes() == data
    assert not (path / "crawlrank").exists()
