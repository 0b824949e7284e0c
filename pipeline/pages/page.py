"""A page that is one file and needs no other: scripts, styles, libraries and data are inside it.

Safety. Jinja2 escapes every string of a template. Data is JSON in a block that no browser runs. In
it `<`, `>` and `&` are escapes, so that no string ends the block. A Content-Security-Policy admits
the scripts of the page by their digests, no other script, and no request to anywhere. What is shown
of an archive is `printable`: controls and marks of direction are visible escapes.

The filters of templates write values as text, each the same wherever a value is shown. The name of
a format is also in the page (`data-format`), so that a test can take a text back.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.terminal.text import json_text
from crawlrank.pipeline.version import crawlrank_version

FOLDER = Path(__file__).parent
LIBRARIES: dict[str, dict[str, str]] = json.loads(
    (FOLDER / "vendor" / "libraries.json").read_text()
)
POLICY = (
    "default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
LINKED = 2000  # characters of a URI that is a link
JSON_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page(
    template: str,
    data: Mapping[str, Any],
    *,
    libraries: Sequence[str],
    scripts: Sequence[str],
    styles: Sequence[str],
    **values: Any,
) -> str:
    """The text of a page.

    template: a file of templates/. data: what scripts read, see `data` in static/page.js; values:
    what the template reads. libraries: names of vendor/libraries.json; scripts, styles: files of
    static/, page.js and page.css before them. All are put in in their order.
    """
    code = [_library(name) for name in libraries]
    code += [_script(f"static/{name}") for name in ("page.js", *scripts)]
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in code)
    return _templates().get_template(template).render(
        policy=POLICY.format(digests=digests),
        scripts=[Markup(script) for script in code],  # ours, or of the libraries
        styles=[Markup(_text(f"static/{name}")) for name in ("page.css", *styles)],
        data=Markup(embedded_json(data)),
        libraries=[LIBRARIES[name] | {"name": name} for name in libraries],
        version=crawlrank_version(),
        **values,
    )  # fmt: skip


def embedded_json(data: object) -> str:
    """JSON that may stand within an element `script`."""
    text = json_text(data, separators=(",", ":"))
    return text.translate(JSON_ESCAPES)


def address(uri: str) -> str | None:
    """The URI as the target of a link; None where it is not http or https, or too long.

    What is not printable is percent-encoded, as a browser would do it.
    """
    if not uri.lower().startswith(("http://", "https://")) or len(uri) > LINKED:
        return None
    return "".join(c if c.isprintable() else quote(c, errors="replace") for c in uri)


def as_text(value: Any, form: str) -> str:
    """The value by a format's name."""
    return FORMATS[form](value)


def at(document: Any, path: str) -> Any:
    """What stands at a path such as `input.by_status`; None where a part of it is None."""
    for name in path.split("."):
        if document is None:
            return None
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


@functools.cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": printable, "address": address, "cut": cut, "as": as_text}
    environment.filters["pieces"] = pieces
    environment.globals |= {"at": at, "NUMBERS": NUMBERS}
    return environment


def _library(name: str) -> str:
    """A library after its licence, which every copy has to carry."""
    library = LIBRARIES[name]
    licence = _text(f"vendor/{library['licence_file']}").strip()
    return f"/*\n{licence}\n*/\n{_script('vendor/' + library['file'])}"


def _script(path: str) -> str:
    """A script as it stands in the page. Raises ValueError if it would end its element."""
    text = _text(path)
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path} would end the element that it is in")
    return text


def _text(path: str) -> str:
    """A file of this folder; browsers read all ends of lines as \\n before they take a digest."""
    text = (FOLDER / path).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


NOTHING = "–"
SHOWN, TAIL = 300, 60  # characters of a text, and those of its end, that are shown
UNITS = ("B", "kB", "MB", "GB", "TB")
TIMESTAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\Z", re.ASCII)


def count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def percent(value: float | None) -> str:
    """A share; one that is neither nothing nor all is never shown as either."""
    if value is None:
        return NOTHING
    if 0 < value < 0.0001:
        return "<0.01%"
    if 0.9999 < value < 1:
        return ">99.99%"
    return f"{100 * value:.2f}%"


def size(value: float | None) -> str:
    """Bytes in a unit of which they are 1 to 999.

    >>> size(999), size(77584), size(2012526), size(5e15)
    ('999 B', '77.6 kB', '2.01 MB', '5,000 TB')
    """
    if value is None:
        return NOTHING
    power = next((p for p in range(4) if value < 999.5 * 1000**p), 4)
    return f"{value / 1000**power:,.3g} {UNITS[power]}" if power < 4 else f"{value / 1e12:,.0f} TB"


def seconds(value: float | None) -> str:
    if value is None:
        return NOTHING
    if value < 120:
        return f"{value:.1f} s"
    minutes = value / 60
    return f"{minutes:,.1f} min" if minutes < 120 else f"{minutes / 60:,.1f} h"


def small(value: float | None) -> str:
    """A bound or an error: two digits and an exponent."""
    return NOTHING if value is None else f"{value:.1e}"


def number(value: float | None) -> str:
    """A number with six digits."""
    return NOTHING if value is None else f"{value:.6g}"


def timestamp(value: str | None) -> str:
    """The 14 digits of a capture as a date and a time (UTC)."""
    if value is None:
        return NOTHING
    match = TIMESTAMP.match(value)
    return "{}-{}-{} {}:{}:{}".format(*match.groups()) if match else printable(value)


def cut(shown: str) -> str:
    """Printable text without its middle where it is long."""
    shown = printable(shown)
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - TAIL]}…{shown[-TAIL:]}"


def pieces(shown: str) -> list[str]:
    """A URI in pieces, between which a line may end."""
    return re.split(r"(?<=[/?&=])(?=[^/])", shown)


def text(value: Any) -> str:
    return NOTHING if value is None or value == "" else cut(str(value))


FORMATS: Mapping[str, Callable[[Any], str]] = {
    "count": count, "percent": percent, "size": size, "seconds": seconds, "small": small,
    "number": number, "timestamp": timestamp, "text": text,
}  # fmt: skip
NUMBERS = ("count", "percent", "size", "seconds", "small", "number")
