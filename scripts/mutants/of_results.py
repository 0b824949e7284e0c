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
            PRECEDENCE,
        ),
        Edit(
            "captured-pages-without-score-are-left-out",
            "pipeline/precedence/lines.py",
            'yield _where(batch, pc.or_(batch["captured"], scored))',
            "yield _where(batch, scored)",
            PRECEDENCE,
        ),
        Edit(
            "pages-without-score-come-first",
            "pipeline/precedence/lines.py",
            "np.int16(self._bins)",
            "np.int16(1)",
            PRECEDENCE,
        ),
        Edit(
            "a-host-with-a-port-is-another",
            "pipeline/precedence/filters.py",
            'ends = [")"] if port else [")", ":"]',
            'ends = [")"]',
            FILTERS,
        ),
    ),
    "heritrix": (
        Edit(
            "wrong-checksums-of-a-gz-are-read",
            "pipeline/precedence/heritrix_loader.py",
            'if stream.read(_TRAILER)[:4] != checksum.to_bytes(4, "little"):',
            "if len(stream.read(_TRAILER)) < 0:",
            LOADER,
        ),
        Edit(
            "a-line-break-in-halves-is-two",
            "pipeline/precedence/heritrix_loader.py",
            'if end[0] == "\\r" and end.end() == len(text):',
            'if end[0] == "\\r" and end.end() > len(text):',
            LOADER,
        ),
        Edit(
            "a-line-without-uri-has-one",
            "pipeline/precedence/heritrix_loader.py",
            "while len(pieces) > 1 and not pieces[-1]:",
            "while len(pieces) > 2 and not pieces[-1]:",
            f"{LOADER} tests/pipeline/precedence/test_lint.py",
        ),
    ),
    "recrawl": (
        Edit(
            "edits-from-the-first-on",
            "pipeline/heritrix/bean_file.py",
            "sorted(self._edits, reverse=True)",
            "sorted(self._edits)",
            BEANS,
        ),
        Edit(
            "overrides-of-what-is-set-stay",
            "pipeline/heritrix/job_beans.py",
            'if names.match(key := prop.attributes.get("key", "").strip()):',
            'if names.match(key := prop.attributes.get("name", "").strip()):',
            BEANS,
        ),
        Edit(
            "a-killed-recrawl-counts-as-ended",
            "pipeline/heritrix/job_folder.py",
            "if not (last / ENDED).exists():",
            "if (last / UNDOING).exists():",
            JOB_FOLDER,
        ),
        Edit(
            "beans-change-before-their-files-are-there",
            "pipeline/heritrix/job_folder.py",
            "        part.rename(new)",
            "        self._put(beans), part.rename(new)",
            JOB_FOLDER,
        ),
        Edit(
            "half-of-the-beans-is-a-way-back",
            "pipeline/heritrix/job_folder.py",
            " or _digest(before) != record.before:",
            ":",
            JOB_FOLDER,
        ),
        Edit(
            "pages-near-a-seed-may-fail",
            "pipeline/heritrix/overriding.py",
            "lambda hops: hops >= 0,",
            "lambda hops: hops == 0,",
            BEANS,
        ),
        Edit(
            "a-folder-of-a-known-host-enters-unseen",
            "pipeline/heritrix/pages.py",
            "        if not any(each in self._known for each in _folders(prefix)):",
            "        if host not in self._known_hosts:",
            "tests/pipeline/heritrix/test_scope_growth.py",
        ),
        Edit(
            "pages-with-another-spelling-that-was-captured",
            "pipeline/heritrix/pages.py",
            "GROUP BY key HAVING sum(captures) = 0",
            "GROUP BY key, captures HAVING captures = 0",
            f"{FIRST_PAGES} tests/systems/test_heritrix_scope.py",
        ),
        Edit(
            "the-longest-way-of-a-page",
            "pipeline/heritrix/pages.py",
            "arg_min(way.hops || hop, length(way.hops))",
            "arg_max(way.hops || hop, length(way.hops)) || 'L'",
            FIRST_PAGES,
        ),
        Edit(
            "sheets-may-set-the-policy",
            "pipeline/heritrix/overriding.py",
            'if each.tag == "entry"',
            'if each.tag == "sheet"',
            BEANS,
        ),
    ),
    "planning": (
        Edit(
            "unchanged-since-the-last-visit-is-changed",
            "pipeline/planning/visit_loops.py",
            "CHANGED if visit.modified > last else SAME",
            "CHANGED if visit.modified >= last else SAME",
            f"{VALIDATORS} {VISITS}",
        ),
        Edit(
            "pages-without-score-are-worth-nothing",
            "pipeline/planning/plan.py",
            "np.nan_to_num(visits.scores, nan=least)",
            "np.nan_to_num(visits.scores, nan=0.0)",
            PLAN,
        ),
    ),
    "estimate": (
        Edit(
            "uris-grow-as-links-do",
            "pipeline/estimate/projection.py",
            "log(uris) / log(links)",
            "log(links) / log(links)",
            PROJECTION,
        ),
        Edit(
            "starting-grows-with-the-rows",
            "pipeline/estimate/projection.py",
            "else max(0.0, took - rate * rows)",
            "else took",
            PROJECTION,
        ),
    ),
    "reports": (
        Edit(
            "links-that-give-least-come-first",
            "pipeline/analysis/report/score_section.py",
            "np.lexsort((incoming.sources, -incoming.gives))",
            "np.lexsort((incoming.sources, incoming.gives))",
            REPORT,
        ),
        Edit(
            "a-pair-of-links-counts-once",
            "pipeline/ranking/structure/degrees.py",
            "count += 2",
            "count += 1",
            DEGREES,
        ),
    ),
    "audit": (
        Edit(
            "pairs-of-one-class-are-wrong",
            "pipeline/analysis/audit/order.py",
            "for later_class in range(number + 1, counts.shape[1]):",
            "for later_class in range(number, counts.shape[1]):",
            ORDER,
        ),
        Edit(
            "pairs-between-batches-of-a-group-are-lost",
            "pipeline/analysis/audit/order.py",
            "counts[0], wrong[0] = self._counts, self._wrong",
            "wrong[0] = self._wrong",
            ORDER,
        ),
        Edit(
            "a-seed-is-one-hop-deep",
            "pipeline/analysis/audit/crawl_log.py",
            'depth = np.where(codes == ord("-"), 0, hops)',
            "depth = hops",
            f"{READING} {AUDIT}",
        ),
        Edit(
            "pages-that-failed-were-never-tried",
            "pipeline/analysis/audit/findings.py",
            "return self.listed - self.fetched - self.tried",
            "return self.listed - self.fetched",
            AUDIT,
        ),
    ),
}
