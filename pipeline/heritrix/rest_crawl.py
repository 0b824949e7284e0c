"""A crawl from its build to its end, over REST.

A launch stops before its first fetch (Heritrix's own default), and goes on when all is set. After a
launch from a checkpoint Heritrix 3.13 has lost which of its queues is best, and would stall or keep
to one host: it is told to look anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.heritrix.job_folder import JobFolder
from crawlrank.pipeline.heritrix.rest import HeritrixEngine, JobStatus

LOOK_ANEW = 'appCtx.getBean("frontier").updateHighestWaiting(0)'
CHANGE = 60.0  # seconds that a change of state may take
PAUSES = (0.2, 5.0)  # seconds between two looks, at first and at most

Say = Callable[[str], None]


class RestCrawl:
    """One job of an engine. say: is told each step."""

    def __init__(self, engine: HeritrixEngine, job: JobFolder, say: Say) -> None:
        self.engine, self.job, self.say = engine, job, say

    def tear_down(self) -> None:
        """Release the state of a job that is not active. Raises BadInput for one that is."""
        status = self.engine.job(self.job.name)
        if status is None:
            self.engine.add(self.job.path)
            status = self._status()
        if status.is_active:
            cure = "Wait until it is finished, or terminate it in the console."
            raise BadInput(
                str(self.job.path), f"the job is {status.description}", "one that is idle", cure
            )
        if status.is_built:
            self.engine.act(self.job.name, "teardown")
            self._await("torn down", lambda status: not status.is_built)

    def launch(self, checkpoint: str | None = None) -> None:
        """Build the job and let it crawl, from a checkpoint where one is named. Raises BadInput."""
        self._act("build")
        self._await("built", lambda status: status.is_built)
        self._act("launch", **({"checkpoint": checkpoint} if checkpoint else {}))
        self._await(
            "launched", lambda s: s.state in ("PAUSED", "RUNNING", "EMPTY") or s.is_finished
        )
        if checkpoint:
            self.say("told to look for its best queue anew")
            self.engine.run_script(self.job.name, LOOK_ANEW)
        if self._status().state == "PAUSED":
            self._act("unpause")

    def await_end(self) -> None:
        """Wait until the crawl is finished, however long, and release the state."""
        emptied: float | None = None
        pause, most = PAUSES
        while not (status := self._status()).is_finished:
            if not status.is_active:
                raise BadInput(str(self.job.path), f"the job is {status.description}", "a crawl")
            emptied = emptied or time.monotonic() if status.state == "EMPTY" else None
            if emptied and time.monotonic() > emptied + CHANGE:  # else it is about to finish
                self.say("empty: nothing is left to fetch, and the job waits for more")
                return
            time.sleep(pause)
            pause = min(1.5 * pause, most)
        self.say(status.description)
        self.tear_down()

    def _act(self, action: str, **more: str) -> None:
        self.say(" ".join([action, *more.values()]))
        self.engine.act(self.job.name, action, **more)

    def _status(self) -> JobStatus:
        status = self.engine.job(self.job.name)
        if status is None:
            cure = "Is the folder that of the jobs of this Heritrix (-j), or on another machine?"
            raise BadInput(
                str(self.job.path), "a job that Heritrix does not know", "one of its jobs", cure
            )
        return status

    def _await(self, what: str, is_so: Callable[[JobStatus], bool]) -> None:
        end, (pause, _) = time.monotonic() + CHANGE, PAUSES
        while not is_so(status := self._status()):
            if time.monotonic() > end:
                last = " | ".join(status.log[:3])
                fault = f"not {what} after {CHANGE:g} s, but {status.description}: {last}"
                raise BadInput(
                    str(self.job.path), fault, f"a job that is {what}", "job.log says more."
                )
            time.sleep(pause)
