"""Shared by the tests that need a real Hadoop: `make test-hadoop` runs them inside a node."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hadoop.node import Node


@pytest.fixture(scope="session", name="hadoop")
def hadoop_around() -> Node:
    """The node that runs around the tests."""
    folder = os.environ.get(Node.FOLDER)
    if folder is None:
        pytest.skip("no Hadoop around this test: make test-hadoop")
    return Node(Path(folder))
