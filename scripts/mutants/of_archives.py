"""Faults in reading archives: records, damage, links of pages, and archives on the web."""

from __future__ import annotations

from mutants.edit import Edit

RECORDS = "tests/jobs/kernel/archive/test_records.py"
FRAMES = "tests/jobs/kernel/archive/test_frames.py"
HEADERS = "tests/jobs/kernel/archive/test_record_headers.py"
WACZ = "tests/jobs/kernel/archive/test_wacz.py"
RANGES = "tests/jobs/kernel/captures/test_archive_ranges.py"
ANSWERS = "tests/jobs/kernel/captures/test_answers.py"
DIGESTS = "tests/jobs/kernel/formats/test_payload_digests.py"
EXTRACTION = "tests/jobs/kernel/captures/test_extraction.py"
BOUNDS = "tests/jobs/kernel/captures/test_bounds.py"
LINKS = "tests/jobs/kernel/links/test_html_links.py"
HEADER_LINKS = "tests/jobs/kernel/links/test_header_links.py"
JOINING = "tests/jobs/kernel/links/test_joining.py"
KINDS = "tests/jobs/kernel/links/test_reference_kinds.py"
CASES = "tests/jobs/kernel/captures/test_input_cases.py"
XML = "tests/jobs/kernel/links/test_xml_links.py"
INDEXES = "tests/jobs/kernel/archive/test_indexes.py"
WEB = "tests/jobs/kernel/storage/web/test_web_files.py"
WEB_RUNS = "tests/runs/archives/test_web_archives.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "records": (
        Edit(
            "record-after-a-false-length-is-lost",
            "jobs/kernel/archive/records.py",
            "run.push_back(block[start:])",
            "run.skip(0)",
            RECORDS,
        ),
        Edit(
            "impossible-dates-are-kept",
            "jobs/kernel/archive/record_headers.py",
            'return whole if possible else ""',
            "return whole",
            HEADERS,
        ),
        Edit(
            "entries-side-by-side-lie-in-each-other",
            "jobs/kernel/archive/wacz.py",
            "if entry.offset < end and not entry.problem:",
            "if entry.offset <= end and not entry.problem:",
            WACZ,
        ),
        Edit(
            "first-of-several-types-wins",
            "jobs/kernel/archive/http_payload.py",
            "        chosen = one",
            "        chosen = chosen if chosen.essence else one",
            CASES,
        ),
        Edit(
            "digest-of-chunks-is-of-the-page",
            "jobs/kernel/archive/http_payload.py",
            "digest = with_digest_of(body, digest)",
            "digest = with_digest_of(block, digest)",
            DIGESTS,
        ),
        Edit(
            "request-before-its-answer-is-forgotten",
            "jobs/kernel/captures/answers.py",
            "if not answered:",
            "if answered:",
            ANSWERS,
        ),
        Edit(
            "range-without-the-answer-of-a-request-fits",
            "jobs/kernel/captures/extraction.py",
            "part.alone &= answers.alone",
            "part.alone &= True",
            ANSWERS,
        ),
        Edit(
            "interim-response-is-the-response",
            "jobs/kernel/archive/http_payload.py",
            "if begin is None or not _INTERIM.match(block, begin):",
            "if begin is None or _INTERIM.match(block, begin):",
            CASES,
        ),
        Edit(
            "only-the-first-member-of-gzip-is-read",
            "jobs/kernel/archive/http_payload.py",
            "while not begin or body.startswith(GZIP_MAGIC, begin):",
            "while not begin:",
            CASES,
        ),
        Edit(
            "requests-in-an-index-are-captures",
            "jobs/kernel/archive/cdx.py",
            "return INDEX if kind in _CAPTURES else kind",
            "return INDEX",
            INDEXES,
        ),
        Edit(
            "range-takes-the-record-at-its-end",
            "jobs/kernel/archive/run_reader.py",
            "return run.plain and run.offset >= self.part.end",
            "return run.plain and run.offset > self.part.end",
            RANGES,
        ),
    ),
    "damage": (
        Edit(
            "false-length-is-no-damage",
            "jobs/kernel/archive/records.py",
            'return block[:start].rstrip(b"\\r\\n"), "bad-length"',
            'return block[:start].rstrip(b"\\r\\n"), ""',
            RECORDS,
        ),
        Edit(
            "search-continues-after-a-broken-frame",
            "jobs/kernel/archive/run_reader.py",
            "frame.begin + 1 if size <= self.rereads else frame.position",
            "frame.position",
            f"{RECORDS} {FRAMES}",
        ),
        Edit(
            "large-records-are-bombs",
            "jobs/kernel/archive/run_reader.py",
            "size > self._max_record and size > BOMB_RATIO * self._consumed",
            "size > self._max_record",
            f"{BOUNDS} {RECORDS}",
        ),
    ),
    "links": (
        Edit(
            "location-of-201-is-no-link",
            "jobs/kernel/links/header_links.py",
            "(300 <= status < 400 or status == 201)",
            "300 <= status < 400",
            HEADER_LINKS,
        ),
        Edit(
            "descriptors-of-srcset-are-links",
            "jobs/kernel/links/link_rules.py",
            'expected = word.endswith(",")',
            "expected = True",
            LINKS,
        ),
        Edit(
            "only-the-first-kind-of-reference-is-kept",
            "jobs/kernel/links/html_links.py",
            "references[index] = before + BETWEEN + kind",
            "references[index] = before",
            KINDS,
        ),
        Edit(
            "shared-body-stays-in-its-first-folder",
            "jobs/kernel/links/reference_kinds.py",
            "link.target if kind == UNKNOWN else",
            "link.target if kind in (UNKNOWN, b'0.1') else",
            KINDS,
        ),
        Edit(
            "path-from-the-root-goes-after-the-folder",
            "jobs/kernel/links/joining.py",
            'before = directory.origin if reference[0] == "/" else directory.path',
            "before = directory.path",
            JOINING,
        ),
        Edit(
            "broken-character-hides-the-quote-after-it",
            "jobs/kernel/encodings/decoding.py",
            "is_single = end > len(data) or data[start + 1] in ASCII",
            "is_single = end > len(data)",
            "tests/jobs/kernel/encodings/test_decoding.py",
        ),
        Edit(
            "base-of-javascript-is-taken",
            "jobs/kernel/keys/uris.py",
            'uri.startswith(("data:", "javascript:"))',
            'uri.startswith("data:")',
            f"tests/jobs/kernel/keys/test_uris.py {LINKS}",
        ),
        Edit(
            "links-of-errors-count",
            "jobs/kernel/captures/extraction.py",
            "good, outlinks = 200 <= status < 300, self._options.outlinks",
            "good, outlinks = 200 <= status, self._options.outlinks",
            EXTRACTION,
        ),
        Edit(
            "metadata-of-a-page-counts-beside-its-html",
            "jobs/kernel/captures/extraction.py",
            'lines_count = good and not (name == "html" and outlinks in ("html", "auto"))',
            "lines_count = good",
            f"tests/jobs/kernel/captures/test_extraction_outlinks.py {EXTRACTION}",
        ),
        Edit(
            "base-of-an-element-lasts-after-it",
            "jobs/kernel/links/xml_links.py",
            "            self._open.pop()",
            "            pass",
            XML,
        ),
        Edit(
            "every-refresh-counts",
            "jobs/kernel/links/html_links.py",
            "for reference in references if not refreshed else ():",
            "for reference in references:",
            CASES,
        ),
        Edit(
            "manifests-of-robots-are-navigation",
            "jobs/kernel/captures/extraction.py",
            'return "X"',
            'return "L"',
            "tests/jobs/kernel/links/test_hops_of_outlinks.py",
        ),
        Edit(
            "null-ends-a-pdf",
            "jobs/kernel/links/pdf_annotations.py",
            "return self._object(dict.get(holder, name)) if _is_dictionary(holder) else None",
            "return self._object(dict.get(holder, name))",
            "tests/jobs/kernel/links/test_pdf_annotations.py",
        ),
        Edit(
            "values-of-robots-rules-are-rules",
            "jobs/kernel/links/header_links.py",
            "at += 3",
            "at += 2",
            "tests/jobs/kernel/links/test_robots_rules.py",
        ),
        Edit(
            "the-body-names-canonical-addresses",
            "jobs/kernel/markup/html_tokens.py",
            'elif name not in HEAD or (self._has_ended and name == b"noscript"):',
            "elif name not in HEAD and self._has_ended:",
            "tests/jobs/kernel/markup/test_html_head.py",
        ),
        Edit(
            "every-shadow-root-of-an-element-counts",
            "jobs/kernel/links/html_documents.py",
            "if host.mem_id in hosts:",
            "if host.mem_id in ():",
            "tests/jobs/kernel/markup/test_shadow_roots.py",
        ),
        Edit(
            "a-long-template-is-read-from-its-second-piece-on",
            "jobs/kernel/markup/html_pieces.py",
            "self._is_left_out = self.templates > 0",
            "self._is_left_out = False",
            "tests/jobs/kernel/markup/test_html_pieces.py",
        ),
    ),
    "web": (
        Edit(
            "other-bytes-than-asked-for-are-taken",
            "jobs/kernel/storage/web/requests.py",
            "match[1] is None or int(match[1]) != begin",
            "match[1] is None",
            f"{WEB} {WEB_RUNS}",
        ),
        Edit(
            "a-changed-file-is-read-on",
            "jobs/kernel/storage/web/bodies.py",
            "if before and now and before != now:",
            "if before and now and before is None:",
            f"{WEB} {WEB_RUNS}",
        ),
        Edit(
            "a-redirect-without-encryption-is-followed",
            "jobs/kernel/storage/web/requests.py",
            'if scheme == "https" or (scheme == "http" and is_allowed(ALLOW_HTTP)):',
            'if scheme == "https" or scheme == "http":',
            f"{WEB} {WEB_RUNS}",
        ),
        Edit(
            "bytes-come-again-after-a-fault",
            "jobs/kernel/storage/web/bodies.py",
            "self._answer = self._known.ask(self.at, self.end or ENDLESS)",
            "self._answer = self._known.ask(self._counted, self.end or ENDLESS)",
            f"{WEB} {WEB_RUNS}",
        ),
    ),
}
