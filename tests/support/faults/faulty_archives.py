"""extract_links with a fault of its own in it: it raises in archives whose name has `odd` in it."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.extract_links import ExtractLinks


class FaultyReader(ExtractLinks):
    def _lines(self, path: str, uri: str) -> Iterator[bytes]:
        yield from super()._lines(path, uri)
        if "odd" in uri:
            raise ValueError("a record that nobody thought of")


if __name__ == "__main__":
    FaultyReader.run()
