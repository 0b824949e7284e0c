"""Whether a host is a public suffix: a name under which others register theirs (`com`, `co.uk`,
`blogspot.com`), by https://publicsuffix.org/list/.

The list is that of the release of tldextract that is installed, which surt brings. It is read as
the file that it is, in a hundredth of a second: importing the package takes a fifth. A name under
no listed suffix has its last label as the suffix, which is the list's rule `*`.
"""

from __future__ import annotations

from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

_LIST = ".tld_set_snapshot"


def needs_www(name: str) -> bool:
    """Whether a host that begins with `www.` or `www2.` would lose its registered domain with that:
    what is left is a public suffix, or the host was one, by a rule such as `*.kobe.jp`."""
    return is_public_suffix(name) or is_public_suffix(f"www.{name}")


def is_public_suffix(host: str) -> bool:
    """host: in lower case, as in a URI, without port."""
    if "." not in host:
        return True
    rules = _rules()
    if f"!{host}" in rules:
        return False
    return host in rules or f"*.{host.partition('.')[2]}" in rules


@cache
def _rules() -> frozenset[str]:
    spec = PathFinder.find_spec("tldextract")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("tldextract, which surt needs, is not installed")
    lines = (Path(spec.origin).parent / _LIST).read_text("utf-8").splitlines()
    rules = [line.split()[0] for line in lines if line.strip() and not line.startswith("//")]
    return frozenset(rule if rule.isascii() else _in_ascii(rule) for rule in rules)


def _in_ascii(rule: str) -> str:
    """As hosts of URIs write it; as it is where it cannot be written so."""
    try:
        return ".".join(label.encode("idna").decode() for label in rule.split("."))
    except UnicodeError:
        return rule
