"""What in a job would change the policies that `recrawl` sets, and is not removed by it.

These are sheets, which set properties for some URIs; files of overrides; files of beans that the
job's file imports, which are read and left alone; and a setting that no crawl survives. What a file
does not tell shows when the job is built: the script that schedules the pages looks at the
precedence of each, and ends a crawl that does not follow (schedule_pages.groovy).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.heritrix.bean_file import CONFIGURER, BeanFile, java_properties
from pipeline.heritrix.spans import Element

OWN_BEANS = (
    "uriPrecedencePolicy", "precedenceAnnotator", "crawlrankPages", "crawlrankPart",
    "crawlrankQuota",
)  # fmt: skip
DEPTH = "preferenceDepthHops"
MOST_IMPORTS = 100
_POLICY = re.compile(
    r"(?:(?:preparer\.)?uriPrecedencePolicy|frontier\.queuePrecedencePolicy)(?:[.\[].*)?\Z",
    re.DOTALL,
)
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
        for sheet, key in _sheet_keys(file):
            raise file.refusal(
                f"the sheet {sheet} sets {key}, so its URIs would not be in the order of the file",
                "Remove this entry from the sheet. The file was left alone.",
            )
        for path, key in _file_keys(file, folder):
            raise file.refusal(
                f"the file of overrides {path} sets {key}",
                f"Remove this line from {path}. The file of beans was left alone.",
            )
        for value in _depths(file):
            if value.strip() == "0":
                raise file.refusal(
                    f"{DEPTH} is 0, so robots.txt would wait behind its pages, and all would fail",
                    f"Remove {DEPTH} of the bean preparer. The file was left alone.",
                )
        if number:
            _require_nothing_set(file)


def _require_nothing_set(file: BeanFile) -> None:
    """Of a file that is imported."""
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


def _sheet_keys(file: BeanFile) -> Iterator[tuple[str, str]]:
    """Sheets and keys that set a policy for some URIs."""
    for sheet in file.root.named("bean"):
        for entry in (each for each in sheet.all() if each.tag == "entry"):
            if _POLICY.match(key := _key_of(entry)):
                yield sheet.attributes.get("id", "without an id"), key


def _key_of(entry: Element) -> str:
    named = [each.text for key in entry.named("key") for each in key.named("value")]
    return entry.attributes.get("key", "".join(named)).strip()


def _file_keys(file: BeanFile, folder: Path) -> Iterator[tuple[Path, str]]:
    """Keys of policies in the files of overrides that can be read here."""
    for bean in file.root.named("bean"):
        if bean.attributes.get("class") != CONFIGURER:
            continue
        for each in (
            *bean.named("property", name="location"),
            *bean.named("property", name="locations"),
        ):
            for location in _locations(each):
                local = _LOCAL.match(location)
                path = folder / local[1] if local else None
                if path and path.is_file():
                    for _, _, key, _ in java_properties(path.read_bytes()):
                        if _POLICY.match(key):
                            yield path, key


def _locations(element: Element) -> list[str]:
    texts = [each.text for each in element.all() if each.tag == "value"]
    return [text.strip() for text in (element.attributes.get("value", ""), *texts) if text.strip()]


def _depths(file: BeanFile) -> Iterator[str]:
    for key, value in file.overrides():
        if key == f"preparer.{DEPTH}":
            yield value
    for each in file.properties("preparer", DEPTH):
        yield each.attributes.get("value", "") + "".join(v.text for v in each.named("value"))
