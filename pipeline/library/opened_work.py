"""A finished work folder as tables: `crawlrank.open("work/crawl").scores()`.

Tables are pyarrow's. `.to_pandas()` of one, or `polars.from_arrow`, give data frames. Work folders
of all runners have the same tables. Nothing is written to the folder.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.library.calling import StrPath, document
from crawlrank.pipeline.library.command_functions import Strings, export, hosts, report
from crawlrank.pipeline.options import HostSort
from crawlrank.pipeline.ranking.inputs import SiteBy
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.rankings import labels, ranking_folder

if TYPE_CHECKING:
    import pyarrow as pa

    from crawlrank.pipeline.workfolder.results.finished import Finished


def open(work: StrPath, ranking: str | None = None) -> OpenedWork:
    """The results of a finished run. ranking: label of another ranking of `crawlrank rank`.

    Raises BadInput for a folder without results, and for a ranking that is not there.
    """
    return OpenedWork(Path(work), ranking)


class OpenedWork:
    """The results of a finished run, for one of its rankings."""

    def __init__(self, work: Path, ranking: str | None) -> None:
        require_manifest(work)
        self.path, self.ranking = work, ranking
        self._folder = ranking_folder(work, ranking)
        self.parameters: dict[str, Any] = dict(require_manifest(self._folder).parameters)

    def __repr__(self) -> str:
        named = f", ranking {self.ranking}" if self.ranking else ""
        return f"<work folder {self.path}{named}>"

    def rankings(self) -> list[str]:
        """Labels of the rankings beside the run's own."""
        return labels(self.path)

    def scores(
        self,
        *,
        captured: bool = False,
        not_captured: bool = False,
        min_links: int | None = None,
        linked_from: Strings = (),
        around: Strings = (),
        new_since: StrPath | None = None,
        status: Strings = (),
        type: Strings = (),
        host: Strings = (),
        match: str | None = None,
        top: int | None = None,
    ) -> pa.Table:
        """The pages, best first, with the columns of `export --format parquet`: url,
        score, class, position, key, captures, status and more.

        Pages that were captured and have no score come last. The filters are those of
        crawlrank.export, such as status="200,3xx", type="html" or host="*.example.org".
        """
        filters: dict[str, Any] = {"captured": captured, "not_captured": not_captured}
        filters |= {"min_links": min_links, "linked_from": linked_from, "around": around}
        filters |= {"new_since": new_since}
        filters |= {"status": status, "type": type, "host": host, "match": match, "top": top}
        with temporary_folder() as folder:
            rows = folder / "scores.parquet"
            export(self.path, rows, ranking=self.ranking, format="parquet", **filters)
            with open_parquet(rows) as file:
                table: pa.Table = file.read()
            return table

    def links(self) -> pa.Table:
        """The links of captures that count: source, target and hop, a row for each."""
        return self._table("SELECT source, target, hop FROM {}", "kept")

    def captures(self) -> pa.Table:
        """Every capture: uri, timestamp, status, media_type, digest, kind and more."""
        return self._table("SELECT * FROM {}", "visited")

    def uris(self) -> pa.Table:
        """Every spelling of a page: key, uri, captures, links, and last, the time of its latest
        capture."""
        return self._table("SELECT key, uri, captures, links, last FROM {} ORDER BY key, uri",
                           "spelled")  # fmt: skip

    def keys(self) -> pa.Table:
        """The nodes of the graph: id and key, by id."""
        return self._table("SELECT id, key FROM {} ORDER BY id", "mapped")

    def edges(self) -> tuple[Positions, Positions]:
        """The graph that was ranked: the ids of sources and of targets, int64[E] each, by target.

        `crawlrank.pagerank(edges, nodes=keys().num_rows)` ranks it anew.
        """
        with self._opened() as finished:
            csr = finished.links()
            targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
            return np.array(csr.sources, np.int64), targets

    def explain(self, uri: str, *, links: int = 10) -> dict[str, Any]:
        """Why the page of a URI has its score and its class. links: incoming ones to list."""
        options = {"work": self.path, "ranking": self.ranking, "links": links}
        return document("explain", (uri,), options)

    def hosts(
        self, *, by: SiteBy = "host", sort: HostSort = "score", top: int | None = None
    ) -> dict[str, Any]:
        """See crawlrank.hosts."""
        return hosts(self.path, ranking=self.ranking, by=by, sort=sort, top=top)

    def report(self, output: StrPath | None = None) -> dict[str, Any]:
        """See crawlrank.report; of this ranking alone, if one was named."""
        return report(self.path, output, ranking=(self.ranking,) if self.ranking else ())

    def status(self) -> dict[str, Any]:
        """Steps, rows, rounds, damage and times of the run."""
        return document("status", (), {"work": self.path, "ranking": self.ranking})

    def _table(self, query: str, view: str) -> pa.Table:
        with self._opened() as finished, finished.reading():
            return finished.db.sql(query.format(finished.view(view))).to_arrow_table()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Finished]:
        from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database

        with temporary_database(half_of_machine().budget) as (db, near):
            yield open_finished(self._folder, db, near, "a")
