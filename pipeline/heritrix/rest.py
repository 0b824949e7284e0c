"""A running Heritrix, over its REST interface: HTTPS, digest authentication, documents of XML.

The password is never part of a command line. Heritrix makes its own certificate, which no authority
has signed: the fingerprint of it is compared instead.

A crawl from its build to its end, over REST.

A launch stops before its first fetch (Heritrix's own default), and continues when all is set. After
a launch from a checkpoint Heritrix 3.13 has lost which of its queues is best, and would stall or
keep to one host: it is told to look anew."""

from __future__ import annotations

import http.client
import os
import ssl
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.heritrix.job_folder import JobFolder

LOGIN = "CRAWLRANK_HERITRIX_LOGIN"  # in the environment, instead of a file
TIMEOUT = 120.0  # seconds of a request: a launch answers when it has begun
EXPECTED = "a Heritrix 3 that answers"


@dataclass(frozen=True)
class Login:
    user: str
    password: str


@dataclass(frozen=True)
class JobStatus:
    """description: of the console, such as `Active: RUNNING`. state: of the crawl, such as RUNNING;
    empty where the job is not launched. log: the last lines of job.log."""

    description: str
    state: str
    is_built: bool
    log: list[str]

    @property
    def is_active(self) -> bool:
        return self.description.startswith("Active")

    @property
    def is_finished(self) -> bool:
        return self.description.startswith("Finished")


def read_login(path: Path | None) -> Login:
    """`user:password`, the first line of a file, or the value of LOGIN. Raises BadInput."""
    if path:
        require_file(path)
    try:
        text = path.read_text("utf-8") if path else os.environ.get(LOGIN, "")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(str(path), f"cannot be read ({error})", "user:password") from error
    user, colon, password = text.partition("\n")[0].strip().partition(":")
    if not (user and colon and password):
        where = str(path) if path else f"the variable {LOGIN}"
        cure = f"Give a file of that line with --login, or set {LOGIN}."
        raise BadInput(where, "no user and password", "one line, user:password", cure)
    return Login(user, password)


class HeritrixEngine:
    """One Heritrix. url: `https://HOST:PORT`. fingerprint: the SHA-256 of its certificate, in hex;
    None where the certificate is one that this machine trusts, or is_trusted."""

    def __init__(
        self, url: str, login: Login, *, fingerprint: str | None = None, is_trusted: bool = False
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise BadInput(url, "no address of Heritrix's console", "https://HOST:PORT")
        self.url = f"https://{parts.netloc}/engine"
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, self.url, login.user, login.password)
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            _Https(fingerprint, is_trusted=is_trusted),
            urllib.request.HTTPDigestAuthHandler(passwords),
        )

    def job(self, name: str) -> JobStatus | None:
        """None where Heritrix does not know the job."""
        document = self._ask(f"job/{quote(name)}")
        if document is None:
            return None
        text = {child.tag: (child.text or "").strip() for child in document}
        log = [(line.text or "").strip() for line in document.findall("jobLogTail/value")]
        return JobStatus(
            text.get("statusDescription", ""),
            text.get("crawlControllerState", ""),
            text.get("hasApplicationContext") == "true",
            log,
        )

    def add(self, folder: Path) -> None:
        """Let it know a job's folder."""
        self._ask("", action="add", addpath=str(folder.resolve()))

    def act(self, name: str, action: str, **more: str) -> None:
        """build, launch, pause, unpause, checkpoint, terminate or teardown."""
        if self._ask(f"job/{quote(name)}", action=action, **more) is None:
            raise BadInput(self.url, f"no job {name}", "a job that Heritrix knows")

    def run_script(self, name: str, script: str) -> None:
        """Run Groovy in a job that is launched. Raises BadInput where it fails."""
        document = self._ask(f"job/{quote(name)}/script", engine="groovy", script=script)
        failure = "" if document is None else (document.findtext("exception") or "")
        if document is None or failure.strip():
            raise BadInput(
                f"{self.url}/job/{name}", f"a script failed: {failure.strip()}", EXPECTED
            )

    def _ask(self, path: str, **form: str) -> ET.Element | None:
        """The answer to GET, or to POST with a form; None for what is not there. Raises
        BadInput."""
        url = f"{self.url}/{path}".rstrip("/")
        data = urlencode(form).encode() if form else None
        request = urllib.request.Request(url, data, {"Accept": "application/xml"})
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                text = answer.read()
            return ET.fromstring(text) if text.strip() else ET.Element("empty")
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.NOT_FOUND:
                return None
            raise _refused(self.url, error.code) from error
        except ssl.SSLError as error:
            raise BadInput(self.url, f"TLS fails ({error})", EXPECTED) from error
        except (OSError, http.client.HTTPException, ET.ParseError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise self._untrusted() from error
            cure = "Start it, and look at its address (-b, -p)."
            raise BadInput(self.url, f"no answer ({reason})", EXPECTED, cure) from error

    def _untrusted(self) -> BadInput:
        parts = urlsplit(self.url)
        shown = ssl.get_server_certificate((str(parts.hostname), parts.port or 443))
        fingerprint = sha256(ssl.PEM_cert_to_DER_cert(shown)).hexdigest()
        return BadInput(
            self.url,
            f"its certificate is signed by nobody; its SHA-256 is {fingerprint}",
            "a certificate that is known",
            "If that is your Heritrix (`keytool -list` of its adhoc.keystore shows the same), give"
            " the fingerprint with --certificate.",
        )


def _refused(url: str, code: int) -> BadInput:
    if code == http.HTTPStatus.UNAUTHORIZED:
        return BadInput(url, "user or password are wrong", "those of its option -a")
    return BadInput(url, f"answers with status {code}", EXPECTED)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, fingerprint: str | None, *, is_trusted: bool) -> None:
        context = ssl.create_default_context()
        if fingerprint or is_trusted:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        super().__init__(context=context)
        self._connection = partial(_Connection, context=context, fingerprint=fingerprint)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, req)


class _Connection(http.client.HTTPSConnection):
    """One that ends before it has sent anything if the certificate is another one."""

    def __init__(self, host: str, *, fingerprint: str | None, **options: Any) -> None:
        super().__init__(host, **options)
        self._fingerprint = fingerprint and fingerprint.replace(":", "").lower()

    def connect(self) -> None:
        super().connect()
        certificate = self.sock.getpeercert(binary_form=True) or b""
        shown = sha256(certificate).hexdigest()
        if self._fingerprint and shown != self._fingerprint:
            self.close()
            cure = "Give nothing to it unless you know why it has another certificate."
            expected = f"the one of --certificate, {self._fingerprint}"
            raise BadInput(self.host, f"its certificate has the SHA-256 {shown}", expected, cure)


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
