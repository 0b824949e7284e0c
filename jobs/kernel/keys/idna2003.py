"""Host names in ASCII as the Java libidn 1.15 in Heritrix makes them: IDNA 2003 (RFC 3490).

Unlike `encodings.idna`, this refuses code points that Unicode 3.2 does not know and those beyond
the basic plane (libidn sees UTF-16 units, and surrogates are prohibited). Case is folded as in
Unicode 3.2, not as in the running Python. One difference to libidn is left: it normalizes as before
Unicode's Corrigendum 4 and composes across a mark in between (U+0B47 U+0300 U+0B3E), which no
orthography writes.
"""

from __future__ import annotations

import re
import stringprep
from unicodedata import ucd_3_2_0 as unicode_3_2

MAX_LABEL = 63
_MOST = 1024  # characters of a name before mapping, which takes some away
ACE_PREFIX = "xn--"

_HOST = re.compile(r"(\s*(?:https?:)?//(?:[^/?#@]*@)?)([^/?#:@]+)", re.IGNORECASE | re.ASCII).match
_DOT = re.compile("[.\u3002\uff0e\uff61]")
_NOT_LDH = re.compile(r"[\x00-,./:-@\[-`{-\x7f]")
_PROHIBITED = (
    *(stringprep.in_table_c12, stringprep.in_table_c22, stringprep.in_table_c3),
    *(stringprep.in_table_c4, stringprep.in_table_c5, stringprep.in_table_c6),
    *(stringprep.in_table_c7, stringprep.in_table_c8),
)


class NotADomain(ValueError):
    """The name has no ASCII form; the message says why."""


def domain_to_ascii(domain: str) -> str:
    """The name with each label in ASCII, dots of other scripts as `.`; raises NotADomain."""
    if len(domain) > _MOST:
        raise NotADomain(f"a host name of {len(domain)} characters")
    return ".".join(label_to_ascii(label) for label in _DOT.split(domain))


def as_idna_2003(reference: str) -> str:
    """A reference as written, but for a host beyond ASCII that has an ASCII form."""
    if reference.isascii() or not (match := _HOST(reference)) or match[2].isascii():
        return reference
    try:
        return match[1] + domain_to_ascii(match[2]) + reference[match.end() :]
    except NotADomain:
        return reference


def label_to_ascii(label: str) -> str:
    """ToASCII of RFC 3490 with UseSTD3ASCIIRules, unassigned code points refused."""
    if not label.isascii():
        label = nameprep(label)
    if _NOT_LDH.search(label):
        raise NotADomain("a character other than letter, digit and hyphen in the host name")
    if label.startswith("-") or label.endswith("-"):
        raise NotADomain("a label of the host name starts or ends with a hyphen")
    if not label.isascii():
        if label.startswith(ACE_PREFIX):
            raise NotADomain("a label of the host name is encoded and not ASCII")
        if len(label) > MAX_LABEL:  # encoding takes quadratic time, and makes it longer
            raise NotADomain(f"a label of the host name has more than {MAX_LABEL} characters")
        label = ACE_PREFIX + label.encode("punycode").decode("ascii")
    if not 1 <= len(label) <= MAX_LABEL:
        count = len(label)
        raise NotADomain(f"a label of the host name has {count} characters, not 1 to {MAX_LABEL}")
    return label


def nameprep(label: str) -> str:
    """RFC 3491: map, normalize to NFKC of Unicode 3.2, check; raises NotADomain."""
    if any(c > "\uffff" or stringprep.in_table_a1(c) for c in label):
        raise NotADomain("a character in the host name that Unicode 3.2 does not know")
    mapped = "".join(_folded(c) for c in label if not stringprep.in_table_b1(c))
    label = unicode_3_2.normalize("NFKC", mapped)
    if any(prohibited(c) for c in label for prohibited in _PROHIBITED):
        raise NotADomain("a prohibited character in the host name")
    _check_direction(label)
    return label


def _folded(character: str) -> str:
    """Table B.2, without letters newer than Unicode 3.2: `stringprep` asks the running Python."""
    folded = stringprep.map_table_b2(character)
    known = all(unicode_3_2.category(c) != "Cn" for c in folded)
    return folded if known else character


def _check_direction(label: str) -> None:
    """RFC 3454, section 6: a label with right-to-left letters starts and ends with them."""
    if not any(map(stringprep.in_table_d1, label)):
        return
    if any(map(stringprep.in_table_d2, label)):
        raise NotADomain("letters of both directions in a label of the host name")
    if not (stringprep.in_table_d1(label[0]) and stringprep.in_table_d1(label[-1])):
        raise NotADomain("a right-to-left label of the host name starts or ends with another sign")
