"""Which URIs have a key, for many at a time and mostly without making the key.

An http URI with a host name, of plain ASCII, without escaped letters, dot segments, brackets and
session ids, always has a key; for these a regular expression over the whole column is enough. For
all others the key is made, by jobs/kernel/keys/keys.py.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, forgetful_key_function

ESCAPE = "%(?:[0189a-f][0-9a-f]|2[0-46-9a-df]|3[0-9a-f])"  # of no letter, dot or `%`
PLAIN = rf"""(?i)^https?://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*/(?:[!"$&')-~]|{ESCAPE})*$"""
# URIs to which a special rule of surt may apply
RARE = r"(?i)/\.\.?(?:[/?]|$)|sid=|sessionid|cftoken="


def having_keys(
    uris: pa.StringArray, *, www: Www, key_of: KeyFunction | None = None
) -> npt.NDArray[np.bool_]:
    """Whether each URI has a key. key_of: makes the key of one."""
    plain = pc.match_substring_regex(uris, PLAIN)
    rare = pc.match_substring_regex(uris, RARE)
    keyed: npt.NDArray[np.bool_] = pc.and_not(plain, rare).to_numpy(zero_copy_only=False).copy()
    key_of = key_of or forgetful_key_function(www)
    others = np.flatnonzero(~keyed)
    unsure = uris.take(pa.array(others)).cast(pa.binary()).to_pylist()
    keyed[others] = np.fromiter((bool(key_of(uri)) for uri in unsure), np.bool_, len(unsure))
    return keyed
