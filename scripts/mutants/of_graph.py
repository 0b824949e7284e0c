"""Faults between links and the graph: lines and columns, keys, folds, ids."""

from __future__ import annotations

from mutants.edit import Edit

LINES = "tests/jobs/kernel/formats/test_lines.py"
DOMAINS = "tests/jobs/kernel/keys/test_registered_domains.py"
KEYS = "tests/jobs/kernel/keys/test_keys.py"
FORM = "tests/jobs/kernel/keys/test_heritrix_form.py"
REVISITS = "tests/runs/test_revisits.py"
SEVERAL = "tests/runs/test_several_crawls.py"
CHAINS = "tests/jobs/test_fold_chains.py"
GRAPH = "tests/pipeline/engines/embedded/test_embedded_graph.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "formats": (
        Edit(
            "any-hop-is-a-hop",
            "jobs/kernel/formats/lines.py",
            "hop = COUNTED.get(fields[2])",
            "hop = COUNTED.get(fields[2], fields[2])",
            f"{LINES}::test_a_line_that_is_none",
        ),
        Edit(
            "scores-without-end-are-read",
            "jobs/kernel/formats/lines.py",
            "if not 0 <= (score := float(fields[0])) < math.inf:",
            "if not 0 <= (score := float(fields[0])) <= math.inf:",
            f"{LINES}::test_a_line_that_is_none",
        ),
        Edit(
            "known-columns-of-captures-are-left-out",
            "jobs/kernel/formats/lines.py",
            "known = any(field != UNKNOWN for field in row[usual:referring])",
            "known = all(field != UNKNOWN for field in row[usual:referring])",
            f"{LINES}::test_captures_come_back tests/jobs/kernel/captures/test_capture_rows.py",
        ),
        Edit(
            "titles-lose-their-first-byte",
            "jobs/kernel/markup/scanner.py",
            "return page[self._numbers[_TITLE_BEGIN] : self._numbers[_TITLE_END]]",
            "return page[self._numbers[_TITLE_BEGIN] + 1 : self._numbers[_TITLE_END]]",
            "tests/jobs/kernel/markup/test_titles.py::test_titles_are_those_of_a_browser",
        ),
        Edit(
            "ids-with-leading-zeros-are-read",
            "jobs/kernel/formats/lines.py",
            'rb"(?:0|[1-9][0-9]{0,17})\\Z"',
            'rb"[0-9]{1,18}\\Z"',
            f"{LINES}::test_a_line_that_is_none",
        ),
        Edit(
            "checksums-of-pages-are-not-verified",
            "pipeline/data/parquet.py",
            "page_checksum_verification=True",
            "page_checksum_verification=False",
            "tests/pipeline/engines/embedded/test_embedded_checks.py"
            "::test_a_page_of_parquet_has_a_checksum"
            " tests/pipeline/engines/embedded/test_embedded_errors.py",
        ),
    ),
    "keys": (
        Edit(
            "arguments-in-the-order-of-their-bytes",
            "jobs/kernel/keys/keys.py",
            "arguments.sort(key=_BY_NAME)",
            "arguments.sort()",
            f"{KEYS}::test_keys_of_made_uris_are_those_of_surt",
        ),
        Edit(
            "registered-domain-is-stripped",
            "jobs/kernel/keys/keys.py",
            '(www == "strip" and needs_www(name))',
            "False",
            f"{DOMAINS}::test_a_case",
        ),
        Edit(
            "registered-domain-is-stripped-by-surt",
            "jobs/kernel/keys/keys.py",
            "if needs_www(host) else key",
            "if False else key",
            f"{DOMAINS}::test_a_case",
        ),
        Edit(
            "host-of-a-lookup-key-loses-its-last-dot",
            "jobs/kernel/keys/heritrix_form.py",
            "labels[-1] += host[-1]",
            'labels[-1] += host[-1].strip(".")',
            f"{FORM}::test_agrees_with_heritrix",
        ),
        Edit(
            "zeros-before-a-port-stay",
            "jobs/kernel/keys/heritrix_form.py",
            'port = match[2].lstrip("0")',
            "port = match[2]",
            f"{FORM}::test_agrees_with_heritrix",
        ),
        Edit(
            "ports-of-the-other-scheme-are-dropped",
            "jobs/kernel/keys/heritrix_form.py",
            "removesuffix(_DEFAULT_PORT[parts.scheme])",
            'removesuffix(":80")',
            f"{FORM}::test_agrees_with_heritrix",
        ),
    ),
    "folds": (
        Edit(
            "digest-of-nothing-names-an-original",
            "jobs/kernel/captures/choosing.py",
            'capture.kind != b"revisit" or capture.digest in DIGESTS_OF_NOTHING',
            'capture.kind != b"revisit"',
            f"{REVISITS}::test_each_form",
        ),
        Edit(
            "earliest-capture-before-a-304-counts",
            "pipeline/engines/embedded/select_links.py",
            "(PARTITION BY {of} ORDER BY timestamp DESC, revisit",
            "(PARTITION BY {of} ORDER BY timestamp, revisit",
            f"{REVISITS}::test_each_form",
        ),
        Edit(
            "what-the-revisit-before-names-is-not-looked-for",
            "jobs/select_links.py",
            "for before in (False, True):",
            "for before in (False,):",
            f"{REVISITS}::test_each_form",
        ),
        Edit(
            "hops-of-a-chain-are-one-too-few",
            "jobs/fold_chains.py",
            "(end[0], end[1] + 1)",
            "(end[0], end[1] or 1)",
            f"{CHAINS}::test_ends_are_those_of_a_walk",
        ),
        Edit(
            "last-capture-of-a-spelling-is-that-of-one-set",
            "jobs/canonicalize.py",
            "max(a[2], b[2])",
            "min(a[2], b[2])",
            "tests/jobs/test_canonicalize.py::test_rows_worked_out_by_hand"
            " tests/runs/test_merges.py",
        ),
    ),
    "graph": (
        Edit(
            "self-links-are-edges",
            "pipeline/engines/embedded/gen_graph.py",
            "edge = targets != sources",
            "edge = targets == targets",
            f"{GRAPH}::test_the_same_as_the_jobs",
        ),
        Edit(
            "sources-without-id-are-not-counted",
            "pipeline/engines/embedded/gen_graph.py",
            "unknown[numbers[sources == none]] = True",
            "unknown[numbers[targets == none]] = True",
            f"{GRAPH}::test_any_links",
        ),
        Edit(
            "ids-of-later-ranges-begin-one-late",
            "jobs/assign_ids.py",
            "accumulate(counts.values(), initial=0)",
            "accumulate(counts.values(), initial=1)",
            "tests/jobs/test_assign_ids.py::test_ids_worked_out_by_hand",
        ),
        Edit(
            "targets-out-of-order-stay",
            "pipeline/data/graph.py",
            "targets[np.lexsort((targets, sources))]",
            "targets[np.lexsort((sources, sources))]",
            "tests/pipeline/data/test_graph.py::test_targets_out_of_order_are_sorted",
        ),
    ),
}
