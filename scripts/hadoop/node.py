"""Where a node keeps what: its folder, and the state that its keeper writes there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hadoop.distribution import hadoop_home
from hadoop.processes import Process


@dataclass(frozen=True)
class Node:
    """folder: absolute."""

    folder: Path

    #: names the folder to whatever runs in the namespace
    FOLDER: ClassVar[str] = "CRAWLRANK_HADOOP"
    #: the same, but only in servers and the containers that they run: those end with the node
    MARK: ClassVar[str] = "CRAWLRANK_HADOOP_SERVER"

    @property
    def home(self) -> Path:
        """The folder of the distribution."""
        return hadoop_home()

    @property
    def conf(self) -> Path:
        return self.folder / "conf"

    @property
    def var(self) -> Path:
        return self.folder / "var"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def read_state(self) -> State | None:
        """None where no keeper has been, or the last one has cleaned up."""
        try:
            return State.of(json.loads((self.folder / "state.json").read_text()))
        except FileNotFoundError:
            return None

    def write_state(self, state: State) -> None:
        new = self.folder / "state.new"
        new.write_text(json.dumps(state.plain()))
        new.replace(self.folder / "state.json")

    def forget_state(self) -> None:
        (self.folder / "state.json").unlink(missing_ok=True)

    def last_words(self, name: str, lines: int = 8) -> str:
        """The end of a server's log."""
        try:
            text = (self.logs / f"{name}.log").read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])


def node_in(folder: Path | None) -> Node:
    """The node in a folder, or in that of the environment, or in work/hadoop."""
    chosen = folder or Path(os.environ.get(Node.FOLDER) or "work/hadoop")
    return Node(chosen.resolve())


@dataclass(frozen=True)
class State:
    """ends: seconds since the epoch. ready: all servers have answered."""

    keeper: Process
    servers: dict[str, Process]
    ends: float
    ready: bool = False

    @classmethod
    def of(cls, plain: dict[str, Any]) -> State:
        servers = {name: Process(*process) for name, process in plain["servers"].items()}
        return cls(Process(*plain["keeper"]), servers, plain["ends"], plain["ready"])

    def plain(self) -> dict[str, Any]:
        return {
            "keeper": self.keeper,
            "servers": self.servers,
            "ends": self.ends,
            "ready": self.ready,
        }
