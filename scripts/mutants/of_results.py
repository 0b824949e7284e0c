"""Faults of what users take away: precedences, recrawls, plans, estimates, reports, audits."""

from __future__ import annotations

from mutants.edit import Edit

PRECEDENCE = "tests/pipeline/precedence/test_precedence.py"
FILTERS = "tests/pipeline/precedence/test_filters.py"
LOADER = "tests/pipeline/precedence/test_heritrix_loader.py"
BEANS = "tests/pipeline/heritrix/test_job_beans.py"
JOB_FOLDER = "tests/pipeline/heritrix/test_job_folder.py"
FIRST_PAGES = "tests/pipeline/heritrix/test_pages.py"
PLAN = "tests/pipeline/planning/test_plan.py"
VISITS = "tests/pipeline/planning/test_visits.py"
VALIDATORS = "tests/pipeline/planning/test_visit_validators.py"
PROJECTION = "tests/pipeline/estimate/test_projection.py"
REPORT = "tests/pipeline/analysis/report/test_report.py"
DEGREES = "tests/pipeline/ranking/structure/test_degrees.py"
AUDIT = "tests/pipeline/analysis/test_audit_precedence.py"
ORDER = "tests/pipeline/analysis/test_audit_order.py"
READING = "tests/pipeline/analysis/test_audit_reading.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "precedence": (
        Edit(
            "lines-of-a-place-in-any-order",
            "pipeline/precedence/lines.py",
            "ORDER BY place % {ALIAS}, form",
            "ORDER BY place % {ALIAS}, form DESC",
            f"{PRECEDENCE}::test_by_hand",
        ),
        Edit(
            "captured-pages-without-score-are-left-out",
            "pipeline/precedence/lines.py",
            'yield _where(batch, pc.or_(batch["captured"], scored))',
            "yield _where(batch, scored)",
            f"{PRECEDENCE}::test_by_hand",
        ),
        Edit(
            "pages-without-score-come-first",
            "pipeline/precedence/lines.py",
            "np.int16(self._bins)",
            "np.int16(1)",
            f"{PRECEDENCE}::test_by_hand",
        ),
        Edit(
            "a-host-with-a-port-is-another",
            "pipeline/precedence/filters.py",
            'ends = (")", ":") if port is None else (f"{port})",)',
            "ends = (f\"{port or ''})\",)",
            f"{FILTERS}::test_filters_take_what_a_comprehension_takes",
        ),
    ),
    "heritrix": (
        Edit(
            "wrong-checksums-of-a-gz-are-read",
            "pipeline/precedence/heritrix_loader.py",
            'if stream.read(_TRAILER)[:4] != checksum.to_bytes(4, "little"):',
            "if len(stream.read(_TRAILER)) < 0:",
            f"{LOADER}::test_a_wrong_checksum_loses_nothing",
        ),
        Edit(
            "a-line-break-in-halves-is-two",
            "pipeline/precedence/heritrix_loader.py",
            'if end[0] == "\\r" and end.end() == len(text):',
            'if end[0] == "\\r" and end.end() > len(text):',
            f"{LOADER}::test_a_line_end_between_two_chunks_is_one",
        ),
        Edit(
            "a-line-without-uri-has-one",
            "pipeline/precedence/heritrix_loader.py",
            "while len(pieces) > 1 and not pieces[-1]:",
            "while len(pieces) > 2 and not pieces[-1]:",
            f"{LOADER}::test_lint_txt tests/pipeline/precedence/test_lint.py",
        ),
    ),
    "recrawl": (
        Edit(
            "edits-from-the-first-on",
            "pipeline/heritrix/bean_file.py",
            "sorted(self._edits, reverse=True)",
            "sorted(self._edits)",
            f"{BEANS}::test_profiles_crawl_by_the_file_afterwards_and_keep_the_rest",
        ),
        Edit(
            "overrides-of-what-is-set-stay",
            "pipeline/heritrix/job_beans.py",
            'if names.match(key := prop.attributes.get("key", "").strip()):',
            'if names.match(key := prop.attributes.get("name", "").strip()):',
            f"{BEANS}::test_profiles_crawl_by_the_file_afterwards_and_keep_the_rest",
        ),
        Edit(
            "a-killed-recrawl-counts-as-ended",
            "pipeline/heritrix/job_folder.py",
            "if not (last / ENDED).exists():",
            "if (last / UNDOING).exists():",
            f"{JOB_FOLDER}::test_a_damaged_or_hostile_record_is_refused",
        ),
        Edit(
            "beans-change-before-their-files-are-there",
            "pipeline/heritrix/job_folder.py",
            "        part.rename(new)",
            "        self._put(beans), part.rename(new)",
            f"{JOB_FOLDER}::test_a_job_is_as_before_or_as_after_any_two_kills",
        ),
        Edit(
            "half-of-the-beans-is-a-way-back",
            "pipeline/heritrix/job_folder.py",
            " or _digest(before) != record.before:",
            ":",
            f"{JOB_FOLDER}::test_a_damaged_or_hostile_record_is_refused",
        ),
        Edit(
            "pages-near-a-seed-may-fail",
            "pipeline/heritrix/overriding.py",
            "lambda hops: hops >= 0,",
            "lambda hops: hops == 0,",
            f"{BEANS}::test_a_file_that_is_not_understood_is_left_alone",
        ),
        Edit(
            "a-folder-of-a-known-host-enters-unseen",
            "pipeline/heritrix/pages.py",
            "        if not any(each in self._known for each in _folders(prefix)):",
            "        if host not in self._known_hosts:",
            "tests/pipeline/heritrix/test_scope_growth.py::test_what_no_seed_has_enters",
        ),
        Edit(
            "pages-with-another-spelling-that-was-captured",
            "pipeline/heritrix/pages.py",
            "GROUP BY key HAVING sum(captures) = 0",
            "GROUP BY key, captures HAVING captures = 0",
            f"{FIRST_PAGES}::test_pages_and_what_is_linked_in_the_order_of_the_file"
            " tests/systems/test_heritrix_scope.py",
        ),
        Edit(
            "the-longest-way-of-a-page",
            "pipeline/heritrix/pages.py",
            "arg_min(way.hops || hop, length(way.hops))",
            "arg_max(way.hops || hop, length(way.hops)) || 'L'",
            f"{FIRST_PAGES}"
            "::test_ways_are_the_shortest_by_links_from_the_seeds_where_archives_have_none",
        ),
        Edit(
            "sheets-may-set-the-policy",
            "pipeline/heritrix/overriding.py",
            'if each.tag == "entry"',
            'if each.tag == "sheet"',
            f"{BEANS}::test_a_file_that_is_not_understood_is_left_alone",
        ),
    ),
    "planning": (
        Edit(
            "unchanged-since-the-last-visit-is-changed",
            "pipeline/planning/visit_numbers.py",
            "CHANGED if visit.modified > last else SAME",
            "CHANGED if visit.modified >= last else SAME",
            f"{VALIDATORS}::test_evidence {VISITS}",
        ),
        Edit(
            "pages-without-score-are-worth-nothing",
            "pipeline/planning/plan.py",
            "np.nan_to_num(visits.scores, nan=least)",
            "np.nan_to_num(visits.scores, nan=0.0)",
            f"{PLAN}::test_no_budget_and_more_than_is_needed",
        ),
    ),
    "estimate": (
        Edit(
            "uris-grow-as-links-do",
            "pipeline/estimate/projection.py",
            "log(uris) / log(links)",
            "log(links) / log(links)",
            f"{PROJECTION}::test_uris_grow_with_the_power_between_the_runs",
        ),
        Edit(
            "starting-grows-with-the-rows",
            "pipeline/estimate/projection.py",
            "else max(0.0, took - rate * rows)",
            "else took",
            f"{PROJECTION}::test_a_fixed_part_and_a_rate",
        ),
    ),
    "reports": (
        Edit(
            "links-that-give-least-come-first",
            "pipeline/analysis/report/score_section.py",
            "np.lexsort((incoming.sources, -incoming.gives))",
            "np.lexsort((incoming.sources, incoming.gives))",
            f"{REPORT}::test_best_pages_are_as_explained",
        ),
        Edit(
            "a-pair-of-links-counts-once",
            "pipeline/ranking/structure/degrees.py",
            "count += 2",
            "count += 1",
            f"{DEGREES}::test_reciprocity_of_named_graphs",
        ),
    ),
    "audit": (
        Edit(
            "pairs-of-one-class-are-wrong",
            "pipeline/analysis/audit/order.py",
            "for later_class in range(number + 1, counts.shape[1]):",
            "for later_class in range(number, counts.shape[1]):",
            f"{ORDER}::test_one_pass_counts_what_all_pairs_do",
        ),
        Edit(
            "pairs-between-batches-of-a-group-are-lost",
            "pipeline/analysis/audit/order.py",
            "counts[0], wrong[0] = self._counts, self._wrong",
            "wrong[0] = self._wrong",
            f"{ORDER}::test_many_groups_are_each_as_alone",
        ),
        Edit(
            "a-seed-is-one-hop-deep",
            "pipeline/analysis/audit/crawl_log.py",
            'depth = np.where(codes == ord("-"), 0, hops)',
            "depth = hops",
            f"{READING}::test_a_real_log_is_read_as_its_fields_are {AUDIT}",
        ),
        Edit(
            "pages-that-failed-were-never-tried",
            "pipeline/analysis/audit/findings.py",
            "return self.listed - self.fetched - self.tried",
            "return self.listed - self.fetched",
            f"{AUDIT}::test_counts_by_a_plain_reader_on_a_random_crawl",
        ),
    ),
}
