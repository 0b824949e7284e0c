"""Faults in the library: graphs in memory and in files, and commands inside a program."""

from __future__ import annotations

from mutants.edit import Edit

GRAPHS = "tests/pipeline/library/test_graph_rankings.py"
FILES = "tests/pipeline/engines/embedded/graph_files/test_graph_files.py"
BLOCKS = "tests/pipeline/engines/embedded/graph_files/test_text_blocks.py"
PUBLIC = "tests/crawlrank/test_public.py"

EDITS = {
    "library": (
        Edit(
            "transpose", "pipeline/library/input_graphs.py",
            "pairs = targets[kept] * nodes + sources[kept]",
            "pairs = sources[kept] * nodes + targets[kept]",
            f"{GRAPHS}::test_parallel_edges_of_networkx_add_up",
        ),
        Edit(
            "keep-self-loops", "pipeline/library/input_graphs.py",
            "kept = ~loops if weights is None", "kept = loops | True if weights is None",
            f"{GRAPHS}::test_loops_and_repeated_edges_are_left_out_and_counted",
        ),
        Edit(
            "one-way", "pipeline/library/input_graphs.py",
            "pairs = np.concatenate((pairs, back[:, ::-1]))",
            "pairs = np.concatenate((pairs, back))",
            f"{GRAPHS}::test_undirected_edges_lead_both_ways",
        ),
        Edit(
            "comments-of-later-lines-are-edges",
            "pipeline/engines/embedded/graph_files/sources.py",
            'COMMENT = (b"#", b"%")', 'COMMENT = (b"#",)', f"{BLOCKS}::test_each_odd_line",
        ),
        Edit(
            "lines-of-blanks-are-passed-by",
            "pipeline/engines/embedded/graph_files/sources.py",
            'if b"\\n \\n" in block:', 'if b"\\n \\n\\n" in block:',
            f"{BLOCKS}::test_each_odd_entry",
        ),
        Edit(
            "labels-like-comments-are-written-as-they-are", "pipeline/precedence/graph_formats.py",
            """'^["#%]|""", """'^["]|""", f"{FILES}::test_odd_labels_come_back",
        ),
        Edit(
            "undirected-edges-of-a-table-lead-one-way",
            "pipeline/engines/embedded/graph_files/edge_lists.py",
            "both = pc.equal(types, UNDIRECTED)", "both = pc.equal(types, TYPE)",
            f"{BLOCKS}::test_edges_of_both_directions",
        ),
        Edit(
            "what-follows-packed-data-is-passed-by",
            "pipeline/engines/embedded/graph_files/sources.py",
            "more = self._stream.unused_data or", 'more = b"" if self._stream.unused_data else',
            f"{FILES}::test_what_is_no_graph",
        ),
        Edit(
            "with-dummy", "pipeline/library/rankings.py",
            "total = float(self.scores.sum())", "total = float(self.scores.sum()) + self.dummy",
            f"{GRAPHS}::test_parallel_edges_of_networkx_add_up",
        ),
        Edit(
            "main-file-again", "pipeline/data/workers.py",
            "with deaf(), without_main():", "with deaf():",
            f"{PUBLIC}::test_a_program_runs_once_and_stays_as_it_is",
        ),
        Edit(
            "handler-stays", "pipeline/library/calling.py",
            "        signal.signal(signal.SIGINT, handler)", "        pass",
            f"{PUBLIC}::test_a_program_runs_once_and_stays_as_it_is",
        ),
        Edit(
            "prints", "pipeline/cli/parameters/progress_options.py",
            "return Progress(shown, quiet or call is not None, log == STDOUT)",
            "return Progress(shown, quiet, log == STDOUT)",
            f"{PUBLIC}::test_a_program_runs_once_and_stays_as_it_is",
        ),
        Edit(
            "reads-configuration", "pipeline/cli/parameters/configuration.py",
            "    if given is None and program_call():", "    if given is None and None:",
            f"{PUBLIC}::test_no_configuration_is_read_that_is_not_named",
        ),
    ),
}  # fmt: skip
