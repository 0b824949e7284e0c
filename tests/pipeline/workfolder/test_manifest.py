"""The manifest: what is done is known again, and what cannot be read is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.workfolder.manifest import SAMPLED, Manifest, file_fingerprint, fingerprint

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def test_every_change_is_on_disk(tmp_path: Path) -> None:
    first = Manifest(tmp_path)
    first.parameters["--bins"] = 5
    first.archives["abc"] = {"path": "a.warc"}
    first.done("gen-graph", {"fingerprint": "f", "rows": {"graph": 3}})
    again = Manifest(tmp_path)
    assert again.parameters == {"--bins": 5}
    assert again.archives == {"abc": {"path": "a.warc"}}
    assert again.is_done("gen-graph", "f")
    assert again.steps["gen-graph"]["rows"] == {"graph": 3}
    assert "crawlrank" in again.steps["gen-graph"]
    assert not again.is_done("gen-graph", "other")
    assert not again.is_done("page-rank", "f")


@given(archives=st.dictionaries(st.text(max_size=3), JSON), other=JSON)
def test_whatever_it_holds_is_read_again(
    archives: dict[str, object], other: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("work")
    first = Manifest(folder)
    first.archives.update({**archives, "archives": {}})  # type: ignore[dict-item]
    first.done("gen-graph", {"fingerprint": "f", "archives": {}, '"archives": {}': other})
    again = Manifest(folder)
    assert again.archives == first.archives
    assert again.steps == first.steps


def test_forgotten_steps_are_not_done(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.done("page-rank", {"fingerprint": "f"})
    manifest.done("join-scores", {"fingerprint": "g"})
    manifest.forget(["join-scores", "export-precedence"])
    assert list(Manifest(tmp_path).steps) == ["page-rank"]


def test_nothing_else_is_left_beside_it(tmp_path: Path) -> None:
    Manifest(tmp_path).done("page-rank", {"fingerprint": "f"})
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "cannot be read"),
        ('{"format": 1,', "cannot be read"),
        ("[]", 'no field "format"'),
        ('{"format": 7}', "format 7"),
        ("\udcff", "cannot be read"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=found) as caught:
        Manifest(tmp_path)
    assert caught.value.where == str(path)
    assert "use another" in caught.value.cure


@given(JSON, JSON)
def test_fingerprints_are_equal_for_equal_values_only(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one) == fingerprint(other)) == same
    assert fingerprint("step", one) != fingerprint("other step", one)


@pytest.mark.parametrize("size", [0, 1, SAMPLED, SAMPLED + 1, 3 * SAMPLED])
def test_a_file_is_known_by_size_beginning_and_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"x" * size)
    known = file_fingerprint(path)
    moved = path.rename(tmp_path / "moved.warc.gz")
    assert file_fingerprint(moved) == known
    changed = [b"x" * size + b"x"]
    if size:
        changed += [b"y" + b"x" * (size - 1), b"x" * (size - 1) + b"y"]
    for content in changed:
        moved.write_bytes(content)
        assert file_fingerprint(moved) != known
