"""Digests of payloads whose bodies have a transfer coding.

WARC says what a payload is: the body without its transfer coding (WARC 1.1, 6.3.2). Many writers
digest the body with its chunk marks instead. Servers cut the same page at other places each time,
so such a digest changes where the page does not. A capture then has two digests with a comma
between them: that of the payload, by which captures are compared, and after it the one that its
record states, by which revisits know it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode

BETWEEN = ","
_LENGTHS = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}  # bytes
_USUAL = "sha1"
_HEX = re.compile("[0-9a-fA-F]*").fullmatch


def with_digest_of(payload: bytes, stated: str) -> str:
    """The digests of a capture. payload: without its transfer coding. stated: by its record, as
    `sha1:…`, or ''. The new one is of the same algorithm and in the same form, by default SHA-1 in
    base 32."""
    name, colon, value = stated.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    if not colon or algorithm not in _LENGTHS:
        name, algorithm, value = _USUAL, _USUAL, ""
    digest = hashlib.new(algorithm, payload, usedforsecurity=False).digest()
    made = f"{name}:{_in_form_of(value.strip(), digest)}"
    return made if stated in ("", made) else f"{made}{BETWEEN}{stated}"


def _in_form_of(value: str, digest: bytes) -> str:
    if len(value) == 2 * len(digest) and _HEX(value):
        return digest.hex().upper() if value.isupper() else digest.hex()
    text = b32encode(digest).decode()
    text = text if value.endswith("=") or not value else text.rstrip("=")
    return text.lower() if value.islower() else text


def digests_in(digests: bytes) -> list[bytes]:
    """The digests of a capture, that of the payload first."""
    return digests.split(BETWEEN.encode())
