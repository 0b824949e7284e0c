"""A running Heritrix, over its REST interface: HTTPS, digest authentication, documents of XML.

The password is never part of a command line. Heritrix makes its own certificate, which no authority
has signed: the fingerprint of it is compared instead.
"""

from __future__ import annotations

import http.client
import os
import ssl
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import require_file

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
        """Of GET, or of POST with a form; None for what is not there. Raises BadInput."""
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
