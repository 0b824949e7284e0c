"""Jobs of Heritrix, written from the profile that it ships.

The profile is a file inside the heritrix-engine jar. What a job changes goes where the profile
says that it belongs: settings and seeds into the two overrides on top, the beans of a precedence
file where the comments of crawlrank's crawler-beans-fragment.xml ask to copy them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROFILE = "org/archive/crawler/restlet/profile-crawler-beans.cxml"
SPACE = "http://www.springframework.org/schema/beans"
NAMESPACES = {
    "": SPACE,
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "context": "http://www.springframework.org/schema/context",
}
#: one thread and no delay: crawl.log is then in the order of the frontier
SETTINGS = {
    "disposition.delayFactor": "0",
    "disposition.minDelayMs": "0",
    "disposition.maxDelayMs": "0",
    "frontier.retryDelaySeconds": "1",
    "frontier.maxRetries": "5",  # each prerequisite takes one: the name of the host, robots.txt
    "crawlController.maxToeThreads": "1",
}


@dataclass(frozen=True)
class Plan:
    """What a job crawls and how.

    seeds: URIs. scope: SURT prefixes, or URIs after a plus, of what may be crawled beside what
    the seeds imply. settings: `bean.property` to value. fragment: crawlrank's
    crawler-beans-fragment.xml. beans: XML of further top-level beans. chains: id of a chain of
    processors to ids of beans that run at its end.
    """

    seeds: Sequence[str]
    scope: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    fragment: Path | None = None
    beans: str = ""
    chains: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """A job's folder; its name is the job's. A launch leaves logs and archives in `latest`."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def crawl_log(self) -> Path:
        return self.folder / "latest" / "logs" / "crawl.log"

    @property
    def archives(self) -> list[Path]:
        return sorted((self.folder / "latest" / "warcs").glob("*.warc.gz"))


def write_job(home: Path, folder: Path, plan: Plan) -> Job:
    """The job of a plan, in `folder`; written again, it keeps its state."""
    root = ET.fromstring(_profile(home))
    contact = {"metadata.operatorContactUrl": "http://127.0.0.1/", "metadata.jobName": folder.name}
    settings = {**contact, **SETTINGS, **plan.settings}
    _append(_one(root, "bean[@id='simpleOverrides']//value"), _lines(settings))
    _one(root, "bean[@id='longerOverrides']//prop").text = "\n".join(["", *plan.seeds, ""])
    if plan.scope:
        _bean(root, "acceptSurts").append(ET.fromstring(_surts(plan.scope)))
    if plan.fragment:
        paste(ET.fromstring(plan.fragment.read_bytes()), root)
    root.extend(ET.fromstring(f'<beans xmlns="{SPACE}">{plan.beans}</beans>'))
    for chain, names in plan.chains.items():
        processors = _one(root, f"bean[@id='{chain}']/property[@name='processors']/list")
        processors.extend(ET.Element(f"{{{SPACE}}}ref", bean=name) for name in names)
    _write(root, folder / "crawler-beans.cxml")
    return Job(folder)


def paste(fragment: ET.Element, root: ET.Element) -> None:
    """The fragment's beans where its comments say: the policy on top, a property in frontier."""
    root.append(_bean(fragment, "uriPrecedencePolicy"))
    _bean(root, "frontier").extend(_bean(fragment, "frontier"))


def _profile(home: Path) -> bytes:
    (engine,) = (home / "lib").glob("heritrix-engine-*.jar")
    with zipfile.ZipFile(engine) as jar:
        return jar.read(PROFILE).replace(b"\r\n", b"\n")


def _one(root: ET.Element, path: str) -> ET.Element:
    (found,) = root.findall(path, NAMESPACES)
    return found


def _bean(root: ET.Element, name: str) -> ET.Element:
    return _one(root, f"bean[@id='{name}']")


def _append(element: ET.Element, text: str) -> None:
    element.text = (element.text or "") + text


def _lines(settings: Mapping[str, str]) -> str:
    return "".join(f"\n{name}={value}" for name, value in settings.items()) + "\n"


def _surts(prefixes: Sequence[str]) -> str:
    value = ET.Element("value")
    value.text = "\n".join(prefixes)
    text = f'<property name="value">{ET.tostring(value, "unicode")}</property>'
    source = f'<bean class="org.archive.spring.ConfigString">{text}</bean>'
    return f'<property xmlns="{SPACE}" name="surtsSource">{source}</property>'


def _write(root: ET.Element, path: Path) -> None:
    for prefix, uri in NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
