"""What in a job would change the policies that `recrawl` sets, and is not removed by it.

These are sheets, which set properties for some URIs; files of overrides; files of beans that the
job's file imports, which are read and left alone; and settings that no crawl survives. What a file
does not tell shows when the job is built: the script that schedules the pages looks at the
precedence of each, and ends a crawl that does not follow (schedule_pages.groovy).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from crawlrank.pipeline.heritrix.bean_file import CONFIGURER, BeanFile, Element, java_properties
from crawlrank.pipeline.precedence.beans import CLIPPED, QUEUE_BASE

OWN_BEANS = (
    "uriPrecedencePolicy", "precedenceAnnotator", "crawlrankPages", "crawlrankPart",
    "crawlrankQuota",
)  # fmt: skip
EDITED_BEANS = ("frontier", "candidateProcessors", "fetchProcessors", "dispositionProcessors")
MOST_IMPORTS = 100
LOCATIONS = ("location", "locations")
LEFT = "The file of beans was left alone."
_POLICY = re.compile(
    r"(?:(?:preparer\.)?uriPrecedencePolicy|frontier\.queuePrecedencePolicy)(?:[.\[].*)?\Z",
    re.DOTALL,
)


class _Fatal(NamedTuple):
    """Values of a property with which pages are never fetched, and what they do."""

    bean: str
    name: str
    is_one: Callable[[int], bool]
    fault: str


_FATAL = (
    _Fatal(
        "preparer", "preferenceDepthHops", lambda hops: hops >= 0,
        "pages that are so near to a seed would go before robots.txt, and fail",
    ),
    _Fatal(
        "frontier", "precedenceFloor", lambda floor: floor <= QUEUE_BASE + CLIPPED,
        "hosts with late classes alone would never be crawled, and the crawl would not end",
    ),
)  # fmt: skip
_LOCAL = re.compile(r"(?:file:(?://)?)?([^:*?]+)\Z")


def imported_files(file: BeanFile) -> list[BeanFile]:
    """The files of beans that it imports, and what these import. Raises BadInput for one that is no
    local file, or is not understood."""
    imported, known = list[BeanFile](), {Path(file.name).resolve()}
    pending = [file]
    while pending:
        importing = pending.pop()
        for each in importing.root.named("import"):
            resource = each.attributes.get("resource", "")
            local = _LOCAL.match(resource)
            path = Path(importing.name).parent / local[1] if local else None
            if path is None or not path.is_file() or len(known) > MOST_IMPORTS:
                raise importing.refusal(
                    f"an element import of {resource!r}, which is no file that can be read here"
                )
            if path.resolve() not in known:
                known.add(path.resolve())
                pending.append(BeanFile(path.read_bytes(), str(path)))
                imported.append(pending[-1])
    return imported


def require_followed(files: Sequence[BeanFile], folder: Path) -> None:
    """Raise BadInput where a job would not crawl as its policies say. files: the job's file, whose
    overrides are removed, then those that it imports. folder: of the job."""
    for number, file in enumerate(files):
        for each in _settings(file, folder):
            if each.is_elsewhere and _POLICY.match(each.key):
                raise file.refusal(
                    f"{each.where} sets {each.key}, so the order would not be that of the file",
                    f"Remove this line from {each.where}. {LEFT}",
                )
            fault = _fault(each)
            if fault:
                raise file.refusal(
                    f"{each.key} is {each.value.strip()} in {each.where}: {fault}",
                    f"Remove {each.key} there. {LEFT}",
                )
        if number:
            _require_nothing_set(file)
            _require_once(files[0], file)


class _Setting(NamedTuple):
    """key: with its bean. where: for people. is_elsewhere: where no edit of ours removes it."""

    key: str
    value: str
    where: str
    is_elsewhere: bool = False


def _fault(setting: _Setting) -> str | None:
    """What a value does to every crawl, if anything."""
    try:
        value = int(setting.value.strip())
    except ValueError:
        return None
    faults = (
        each.fault
        for each in _FATAL
        if setting.key == f"{each.bean}.{each.name}" and each.is_one(value)
    )
    return next(faults, None)


def _settings(file: BeanFile, folder: Path) -> Iterator[_Setting]:
    """The settings of sheets, files of overrides, overrides, and the beans that _FATAL names."""
    for sheet in file.root.named("bean"):
        where = f"the sheet {sheet.attributes.get('id', 'without an id')}"
        for entry in (each for each in sheet.all() if each.tag == "entry"):
            yield _Setting(_key_of(entry), _value_of(entry), where, True)
    for path in _files_of_overrides(file, folder):
        for _, _, key, value in java_properties(path.read_bytes()):
            yield _Setting(key, value, f"the file of overrides {path}", True)
    for key, value in file.overrides():
        yield _Setting(key, value, "the overrides")
    for fatal in _FATAL:
        for each in file.properties(fatal.bean, fatal.name):
            yield _Setting(f"{fatal.bean}.{fatal.name}", _value_of(each), f"the bean {fatal.bean}")


def _require_once(job: BeanFile, imported: BeanFile) -> None:
    """Refuse two beans of one name, as Spring takes the one that it reads last."""
    for name in EDITED_BEANS:
        if job.beans(name) and imported.beans(name):
            cure = f"Keep the one in {job.name}, and remove the other. {LEFT}"
            raise imported.refusal(f"a bean {name}, which {job.name} has, too", cure)


def _require_nothing_set(file: BeanFile) -> None:
    """Refuse a setting in a file that is imported."""
    for name in OWN_BEANS:
        if file.beans(name):
            raise file.refusal(f"a bean {name} in a file that the job imports")
    for key, _ in file.overrides():
        if _POLICY.match(key):
            raise file.refusal(f"an override of {key} in a file that the job imports")
    if file.properties("frontier", "queuePrecedencePolicy"):
        raise file.refusal("a queuePrecedencePolicy in a file that the job imports")
    if file.properties("preparer", "uriPrecedencePolicy"):
        raise file.refusal("a uriPrecedencePolicy in a file that the job imports")


def _key_of(entry: Element) -> str:
    named = [each.text for key in entry.named("key") for each in key.named("value")]
    return entry.attributes.get("key", "".join(named)).strip()


def _value_of(element: Element) -> str:
    return element.attributes.get("value", "".join(each.text for each in element.named("value")))


def _files_of_overrides(file: BeanFile, folder: Path) -> Iterator[Path]:
    """The files of overrides that can be read here."""
    for location in _locations(file):
        local = _LOCAL.match(location.strip())
        path = folder / local[1] if local else None
        if path and path.is_file():
            yield path


def _locations(file: BeanFile) -> Iterator[str]:
    for each in file.root.children:
        if each.tag.endswith(":property-override"):  # Spring's short form
            yield from each.attributes.get("location", "").split(",")
        if each.tag == "bean" and each.attributes.get("class") == CONFIGURER:
            for prop in (p for p in each.children if p.attributes.get("name") in LOCATIONS):
                yield prop.attributes.get("value", "")
                yield from (below.text for below in prop.all() if below.tag == "value")
