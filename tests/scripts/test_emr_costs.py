"""The estimate of docs/emr.md: it is what the script says, and its arithmetic by hand."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from emr_costs import Plan, table
from support.paths import ROOT, SCRIPTS

PAGE = ROOT / "docs" / "emr.md"


def test_the_page_shows_what_the_script_says() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / "costs" / "emr_costs.py"], capture_output=True, text=True
    )
    (shown,) = re.findall(r"<!-- costs -->\n(.*)<!-- end -->", PAGE.read_text(), re.DOTALL)
    assert shown == done.stdout


def test_a_terabyte_by_hand() -> None:
    """1.8e9 links; 8.3 MB/s; 28.8 cores of 6 nodes; 41 steps of 90 s and 12 minutes."""
    plan = Plan()
    assert plan.core_hours()["extract-links"] == pytest.approx(10**12 / 8.3e6 / 3600)
    assert plan.core_hours()["assign-ids"] == pytest.approx(1.8e9 * 24.2e-6 / 3600)
    python = 33.467 + 1.8e9 * (18.8 + 24.2 + 8.5 + 6.5 + 11.5 + 3.4 + 25 * 0.07) * 1e-6 / 3600
    assert plan.hours() == pytest.approx(0.2 + 41 * 0.025 + 2 * python / 28.8, rel=1e-4)
    nodes = 0.192 + 2 * 0.384 + 4 * 0.384 * 0.4
    assert plan.dollars()["EC2"] == pytest.approx(plan.hours() * nodes)
    assert plan.dollars()["EMR"] == pytest.approx(plan.hours() * (0.048 + 6 * 0.096))


def test_what_grows_and_what_does_not() -> None:
    small, large = Plan(tb=1), Plan(tb=10)
    assert sum(large.core_hours().values()) == pytest.approx(10 * sum(small.core_hours().values()))
    assert large.hours() < 10 * small.hours()
    wide = Plan(workers=12, on_demand=2)
    assert wide.hours() < small.hours()
    assert "| a TB |" in table(large)


def test_plain_rounds_in_place_of_packed_ones() -> None:
    packed, plain = Plan(), Plan(iterations=10)
    assert plain.steps() == packed.steps() - 15
    assert plain.core_hours()["10 plain rounds"] == pytest.approx(1.8e9 * 36e-6 / 3600)
    assert "packing, unpacking" not in plain.core_hours()
