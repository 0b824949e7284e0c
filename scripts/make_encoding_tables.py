"""Writes jobs/kernel/encodings/tables.py from the index files in tests/data/encoding.

The module has the labels of encodings, and the sequences of bytes that Python's codecs refuse or
read otherwise than the Encoding Standard says.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data/encoding"
TABLES = ROOT / "jobs/kernel/encodings/tables.py"
_HEAD = '''"""The labels of the Encoding Standard, and what Python's codecs lack of its indexes.

scripts/make_encoding_tables.py makes this module, from data under the BSD-3-Clause licence: NOTICE.
"""

from __future__ import annotations

'''
_EACH_LINE = 12
_WIDTH = 100


def source() -> str:
    indexes = json.loads(gzip.decompress((DATA / "indexes.json.gz").read_bytes()))
    big5 = _differences("big5hkscs", indexes["big5"], 157, [*range(0x40, 0x7F), *range(0xA1, 0xFF)])
    trails = [*range(0x40, 0x7F), *range(0x80, 0xFF)]
    gb18030 = _differences("gb18030", indexes["gb18030"], 190, trails)
    return "".join(
        (
            _HEAD,
            "#: of each encoding, by its name in lower case\n",
            f"LABELS = {{\n{''.join(_labels())}}}\n",
            "\n#: sequences of bytes with what they stand for, as against Python's `big5hkscs`\n",
            _table("BIG5", big5),
            "\n#: as against Python's `gb18030`\n",
            _table("GB18030", gb18030),
        )
    )


def _labels() -> Iterator[str]:
    headings = json.loads((DATA / "encodings.json").read_text())
    for encoding in (encoding for heading in headings for encoding in heading["encodings"]):
        name, labels = encoding["name"].lower(), " ".join(encoding["labels"])
        entry = f'    "{name}": "{labels}",\n'
        if len(entry) <= _WIDTH + 1:
            yield entry
        else:
            lines = wrap(labels, _WIDTH - 11, break_on_hyphens=False)
            texts = [f'        "{line} "\n' for line in lines[:-1]] + [f'        "{lines[-1]}"\n']
            yield f'    "{name}": (\n{"".join(texts)}    ),\n'


def _differences(
    codec: str, index: list[int | None], columns: int, trails: list[int]
) -> dict[bytes, str]:
    differences = {}
    for pointer, code in enumerate(index):
        if code is not None:
            pair = bytes((0x81 + pointer // columns, trails[pointer % columns]))
            if pair.decode(codec, "ignore") != chr(code):
                differences[pair] = chr(code)
    return differences


def _table(name: str, table: dict[bytes, str]) -> str:
    entries = [pair.hex() + character for pair, character in table.items()]
    lines = (entries[at : at + _EACH_LINE] for at in range(0, len(entries), _EACH_LINE))
    text = "".join(f'    "{" ".join(line)} "\n' for line in lines)
    return f"{name} = (\n{text})\n"


if __name__ == "__main__":
    TABLES.write_text(source())
