"""Where things are in the checkout, and beside it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
SAMPLES = ROOT / "sample_data"
LOOPBACK = SAMPLES / "heritrix-loopback.warc.gz"
DAMAGED = SAMPLES / "damaged"
DATA = ROOT / "tests" / "data"
SMALL_ARCHIVES = DATA / "archives"
HERITRIX = DATA / "heritrix"

#: large archives of others, which are no part of the project; tests skip what is not there
REFERENCE = ROOT.parent / "shared" / "reference"
