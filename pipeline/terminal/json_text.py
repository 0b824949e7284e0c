"""JSON as other programs read it, which has no number for infinity: a bound that proves nothing."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(document: Any, **options: Any) -> str:
    """The document, with null for infinity and NaN. options: of json.dumps."""
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_finite(document), allow_nan=False, **options)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [*map(_finite, value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
