"""Which steps of a work folder are done: by the mark of what they read, and by what they left.

A step's mark is the fingerprint of its parameters and of the marks of the steps that it reads. A
step is done when its entry in the manifest has its mark, and every dataset is as the entry's record
says: names and sizes of all files, and of RESULTS their digests too. The digests of other datasets
are compared before a step reads them, unless this run wrote them: a run that keeps everything does
not read a terabyte of links for that. What is missing or has changed is made again, with all that
was made of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import OF_ARCHIVES, RANK, RESULTS, SHARED, STEPS, later_steps
from crawlrank.pipeline.workfolder.archives import forget_part
from crawlrank.pipeline.workfolder.dataset_store import DatasetRecord
from crawlrank.pipeline.workfolder.manifest import IMPORT_AGAIN, REPLACED, Manifest, fingerprint

RUN_AGAIN = "Run `crawlrank run` on the work folder around it: it makes it anew."


class DamagedDataset(Exception):
    """A dataset that was kept is not as it was left. Its step is no longer done in the manifest,
    and `take_faults` returns the fault."""


class StepState:
    """marks: step -> mark, of steps whose parameters are known by now."""

    def __init__(self, manifest: Manifest, engine: Engine) -> None:
        self.manifest, self.engine = manifest, engine
        self.marks: dict[str, str] = {}
        self._trusted: set[str] = set()  # datasets that this run wrote or has compared
        self._faults: list[str] = []

    def mark(self, name: str, parameters: dict[str, Any]) -> str:
        """Set and return the mark of a step."""
        read = [self.marks[step] for step in STEPS[name] if step in self.marks]
        self.marks[name] = mark = fingerprint(name, parameters, read)
        return mark

    def take_shared(self) -> None:
        """Set the marks of the steps whose results a ranking shares."""
        done = {step: self.manifest.steps[step] for step in SHARED if step in self.manifest.steps}
        self.marks.update((step, entry["fingerprint"]) for step, entry in done.items())
        if imported := self.manifest.imported:
            self.marks.update(dict.fromkeys(REPLACED[imported["kind"]], imported["fingerprint"]))

    def is_done(self, name: str) -> bool:
        if not self.manifest.is_done(name, self.marks[name]):
            return False
        records = self.manifest.steps[name].get("datasets", {})
        return self._are_whole(records, digests=name in RESULTS)

    def _are_whole(self, records: dict[str, DatasetRecord], *, digests: bool) -> bool:
        faults = (self._fault(*of, digests=digests) for of in records.items())
        fault = next(filter(None, faults), None)
        self._faults += [fault] if fault else []
        return not fault

    def forget(self, name: str) -> bool:
        """Mark a step, and the steps that read it, as not done. Its progress with its fingerprint
        stays. Whether there was anything to forget, which is then to be saved."""
        progress = self.manifest.progress(name, self.marks.get(name, ""))
        steps = [step for step in (name, *later_steps(name)) if step in self.manifest.steps]
        for step in steps:
            del self.manifest.steps[step]
        if progress:
            self.manifest.steps[name] = progress
        return bool(steps)

    def record(self, name: str) -> dict[str, DatasetRecord]:
        """The records of what a step has just left; each of its datasets is on the disk then."""
        store, records = self.engine.store, {}
        for dataset in self.engine.datasets[name].writes:
            if store.exists(dataset):
                records[dataset] = store.record(dataset)
                self._trusted.add(dataset)
        return records

    def record_part(self, part: str, datasets: Iterable[str]) -> None:
        """Record a part of these datasets."""
        names = [f"{dataset}/{part}" for dataset in datasets]
        self.manifest.parts[part] = {name: self.engine.store.record(name) for name in names}
        self._trusted.update(names)

    def part_is_whole(self, part: str) -> bool:
        """Whether a part is whole, by names and sizes."""
        records = self.manifest.parts.get(part, {})
        return bool(records) and self._are_whole(records, digests=False)

    def intact_rounds(self, name: str, stop: Stop) -> list[Round]:
        """The rounds of PageRank after which to continue: none if their checkpoint is not as they
        left it."""
        entry = self.manifest.progress(name, self.marks[name])
        names = ("ranks",) if stop.iterations is not None else ()  # under which the last one ends
        for dataset, record in entry.get("checkpoint", {}).items():
            faults = [self._fault(name, record, digests=True) for name in (dataset, *names)]
            if all(faults):
                return []
        return list(entry.get("rounds", []))

    def require_inputs(self, name: str) -> None:
        """Compare what a step is about to read. Raises DamagedDataset, and BadInput for what was
        imported, which no step can make again."""
        reads = self.engine.datasets[name].reads
        for dataset, record in self.manifest.datasets().items():
            if dataset in reads and (fault := self._fault(dataset, record, digests=True)):
                self._refuse_imported(dataset, fault)
                for step, entry in list(self.manifest.steps.items()):
                    if dataset in entry.get("datasets", {}):
                        self._lose(step, fault)
        if not set(reads).isdisjoint(OF_ARCHIVES):
            self._require_parts(reads)

    def _require_parts(self, reads: Collection[str]) -> None:
        faults = {
            part: fault
            for part, records in self.manifest.parts.items()
            for dataset, record in records.items()
            if dataset.partition("/")[0] in reads
            and (fault := self._fault(dataset, record, digests=True))
        }
        for part in faults:
            forget_part(self.manifest, part)
        if faults:
            self._lose("extract-links", *faults.values())

    def _fault(self, dataset: str, record: DatasetRecord, *, digests: bool) -> str | None:
        if dataset in self._trusted:
            return None
        fault = self.engine.store.fault(dataset, record, digests=digests)
        if digests and not fault:
            self._trusted.add(dataset)
        return fault

    def _lose(self, step: str, *faults: str) -> None:
        if self.manifest.ranking and step in SHARED:
            raise BadInput(str(self.engine.store.work), faults[0], "what the run left", RUN_AGAIN)
        self._faults.extend(faults)
        self.forget(step)
        self.manifest.save()
        raise DamagedDataset

    def take_faults(self) -> list[str]:
        """What was not as it was left, since this was asked last."""
        faults, self._faults = self._faults, []
        return faults

    def require_imported(self) -> None:
        """Raises BadInput where names or sizes of what was imported are not as they were left."""
        for dataset, record in self.manifest.imported["datasets"].items():
            if fault := self._fault(dataset, record, digests=False):
                self._refuse_imported(dataset, fault)

    def _refuse_imported(self, dataset: str, fault: str) -> None:
        if dataset in self.manifest.imported.get("datasets", {}):
            where = str(self.engine.store.work)
            raise BadInput(where, fault, "what was imported", IMPORT_AGAIN)

    def kept(self) -> set[str]:
        """Datasets that the manifest records, and those of the step at work."""
        entry = self.manifest.steps.get(RANK, {})
        under_way = entry and "fingerprint" not in entry
        return {*self.manifest.datasets(), *(("rounds", "ranks") if under_way else ())}
