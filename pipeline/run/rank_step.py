"""The step page-rank of a run: its rounds are entered in the manifest, and gone on with."""

from __future__ import annotations

from typing import Any

from crawlrank.pipeline.engines.contract import Engine, Ranking
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.ranking.inputs import COMBINE_BY, Combination, PageWeights
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.run.ranking_inputs import combined_scores, weights_by_id
from crawlrank.pipeline.run.step_state import StepState
from crawlrank.pipeline.steps import RANK, StepEntry
from crawlrank.pipeline.workfolder.dataset_store import DatasetRecord


class RankStep:
    """Rounds from the last one that was entered; each is in the manifest soon after it."""

    def __init__(
        self, state: StepState, engine: Engine, options: RunOptions, reporter: Reporter
    ) -> None:
        self.state, self.engine, self.reporter = state, engine, reporter
        self.method, self.stop, self.options = METHODS[options.method], options.stop, options
        self.manifest = state.manifest
        self._records: dict[str, DatasetRecord] = {}  # of the checkpoint that was entered last

    def parameters(self) -> dict[str, Any]:
        return {**self.stop.parameters(), **self.method.fingerprint(self.options.inputs)}

    def work(self) -> StepEntry:
        rounds: list[Round] = []

        def on_round(_: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            self.reporter.round(so_far, self.stop)
            if due := self.manifest.due:
                self._enter(so_far)
            return due

        before = self._before()
        if before:
            self.reporter.resume()
        inputs, entry = self._inputs()
        ranking = Ranking(self.method, self.stop, inputs)
        try:
            rounds = self.engine.rank(ranking, before, on_round)
        except BaseException:
            if len(rounds) > len(before):
                self._enter(rounds)  # for those who allow more of them
            raise
        return {"rounds": rounds, "rows": {"ranks": rounds[-1]["nodes"] + 1}, **entry}

    def _inputs(self) -> tuple[dict[str, Any], StepEntry]:
        """The inputs of the Ranking, and what the manifest says of them."""
        options, work = self.options, self.engine.store.work
        given, entry = dict(self.method.given(options.inputs)), StepEntry()
        inputs = {each.name: value for each, value in given.items()}
        for each, value in given.items():
            if isinstance(value, PageWeights):
                unnamed = self.method.unnamed
                to = (work, self.manifest, value, unnamed, options.memory)
                inputs[each.name], entry = weights_by_id(*to)
            if isinstance(value, Combination):
                how = given[COMBINE_BY]
                inputs[each.name] = combined_scores(work.parents[1], value, how, options.memory)
        return inputs, entry

    def _before(self) -> list[Round]:
        """Rounds to resume from. From now on `rounds/` belongs to this fingerprint."""
        mark = self.state.marks[RANK]
        if not self.manifest.progress(RANK, mark):
            self.engine.store.drop("rounds")
            self.manifest.begun(RANK, {"of": mark, "rounds": []})
            self.manifest.save()
        return self.state.intact_rounds(RANK, self.stop)

    def _enter(self, rounds: list[Round]) -> None:
        """Save the rounds with the records of what continues after them, unless that is just being
        moved to where it is to end."""
        store, names = self.engine.store, self.engine.checkpoint(self.stop, rounds)
        if all(map(store.exists, names)):
            self._records = {name: self._records.get(name) or store.record(name) for name in names}
            entry = {"of": self.state.marks[RANK], "rounds": list(rounds)}
            self.manifest.begun(RANK, {**entry, "checkpoint": self._records})
            self.manifest.save()
