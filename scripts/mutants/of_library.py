"""Faults in the library: graphs in memory, and commands in the process of a program."""

from __future__ import annotations

from mutants.edit import Edit

GRAPHS = "tests/pipeline/library/test_graph_rankings.py"
PUBLIC = "tests/crawlrank/test_public.py"

EDITS = {
    "library": (
        Edit(
            "transpose", "pipeline/library/input_graphs.py",
            "pairs = targets[kept] * nodes + sources[kept]",
            "pairs = sources[kept] * nodes + targets[kept]", GRAPHS,
        ),
        Edit(
            "keep-self-loops", "pipeline/library/input_graphs.py",
            "kept = ~loops if weights is None", "kept = loops | True if weights is None", GRAPHS,
        ),
        Edit(
            "one-way", "pipeline/library/input_graphs.py",
            "pairs = np.concatenate((pairs, back[:, ::-1]))",
            "pairs = np.concatenate((pairs, back))", GRAPHS,
        ),
        Edit(
            "with-dummy", "pipeline/library/rankings.py",
            "total = float(self.scores.sum())", "total = float(self.scores.sum()) + self.dummy",
            GRAPHS,
        ),
        Edit(
            "main-file-again", "pipeline/data/workers.py",
            "with deaf(), without_main():", "with deaf():", PUBLIC,
        ),
        Edit(
            "handler-stays", "pipeline/library/calling.py",
            "        signal.signal(signal.SIGINT, handler)", "        pass", PUBLIC,
        ),
        Edit(
            "prints", "pipeline/cli/parameters/progress_options.py",
            "return Progress(shown, quiet or call is not None, log == STDOUT)",
            "return Progress(shown, quiet, log == STDOUT)", PUBLIC,
        ),
        Edit(
            "reads-configuration", "pipeline/cli/parameters/configuration.py",
            "    if given is None and program_call():", "    if given is None and None:", PUBLIC,
        ),
    ),
}  # fmt: skip
