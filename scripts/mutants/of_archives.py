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
WORDS = "tests/jobs/kernel/markup/test_link_words.py"
TEXTS = "tests/pipeline/analysis/test_anchor_texts.py"
TOPIC = "tests/pipeline/ranking/topic/test_topic.py"
RECEIVED = "tests/runs/archives/test_received_archives.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "records": (
        Edit(
            "record-after-a-false-length-is-lost",
            "jobs/kernel/archive/records.py",
            "run.push_back(block[start:])",
            "run.skip(0)",
            f"{RECORDS}::test_a_false_length_costs_nothing",
        ),
        Edit(
            "impossible-dates-are-kept",
            "jobs/kernel/archive/record_headers.py",
            'return whole if possible else ""',
            "return whole",
            f"{HEADERS}::test_impossible_dates",
        ),
        Edit(
            "entries-side-by-side-lie-in-each-other",
            "jobs/kernel/archive/wacz.py",
            "if entry.offset < end and not entry.problem:",
            "if entry.offset <= end and not entry.problem:",
            f"{WACZ}::test_the_archives_in_a_wacz",
        ),
        Edit(
            "first-of-several-types-wins",
            "jobs/kernel/archive/http_payload.py",
            "        chosen = one",
            "        chosen = chosen if chosen.essence else one",
            f"{CASES}::test_the_links_of_a_case",
        ),
        Edit(
            "digest-of-chunks-is-of-the-page",
            "jobs/kernel/archive/http_payload.py",
            "digest = with_digest_of(body, digest)",
            "digest = with_digest_of(block, digest)",
            f"{DIGESTS}::test_chunks_change_no_digest_of_a_record",
        ),
        Edit(
            "request-before-its-answer-is-forgotten",
            "jobs/kernel/captures/answers.py",
            "if not answered:",
            "if answered:",
            f"{ANSWERS}::test_answers_count_for_nothing",
        ),
        Edit(
            "range-without-the-answer-of-a-request-fits",
            "jobs/kernel/captures/extraction.py",
            "part.alone &= answers.alone",
            "part.alone &= True",
            f"{ANSWERS}::test_a_range_without_the_answer_of_a_request_does_not_fit",
        ),
        Edit(
            "interim-response-is-the-response",
            "jobs/kernel/archive/http_payload.py",
            "if begin is None or not _INTERIM.match(block, begin):",
            "if begin is None or _INTERIM.match(block, begin):",
            f"{CASES}::test_the_links_of_a_case",
        ),
        Edit(
            "only-the-first-member-of-gzip-is-read",
            "jobs/kernel/archive/http_payload.py",
            "while not begin or body.startswith(GZIP_MAGIC, begin):",
            "while not begin:",
            f"{CASES}::test_the_links_of_a_case",
        ),
        Edit(
            "requests-in-an-index-are-captures",
            "jobs/kernel/archive/cdx.py",
            "return INDEX if kind in _CAPTURES else kind",
            "return INDEX",
            f"{INDEXES}::test_lines_of_other_records_are_no_captures",
        ),
        Edit(
            "offsets-of-ranges-are-those-in-the-range",
            "jobs/kernel/archive/range_lists.py",
            "offset = item.offset + entry.begin",
            "offset = item.offset",
            f"{RECEIVED}::test_only_the_records_that_an_index_names_are_read",
        ),
        Edit(
            "bytes-between-ranges-are-read",
            "pipeline/workfolder/index_ranges.py",
            "row.begin == last.begin + last.size and",
            "row.begin >= last.begin + last.size and",
            f"{RECEIVED}::test_only_the_records_that_an_index_names_are_read",
        ),
        Edit(
            "an-index-names-any-file-of-the-machine",
            "pipeline/workfolder/index_ranges.py",
            "if _NO_NAME.search(record.archive) or",
            "if",
            f"{RECEIVED}::test_wrong_lines_are_named_and_counted",
        ),
        Edit(
            "range-takes-the-record-at-its-end",
            "jobs/kernel/archive/run_reader.py",
            "return run.plain and run.offset >= self.part.end",
            "return run.plain and run.offset > self.part.end",
            f"{RANGES}::test_ranges_of_every_container",
        ),
    ),
    "damage": (
        Edit(
            "false-length-is-no-damage",
            "jobs/kernel/archive/records.py",
            'return block[:start].rstrip(b"\\r\\n"), "bad-length"',
            'return block[:start].rstrip(b"\\r\\n"), ""',
            f"{RECORDS}::test_a_false_length_costs_nothing",
        ),
        Edit(
            "search-continues-after-a-broken-frame",
            "jobs/kernel/archive/run_reader.py",
            "frame.begin + 1 if size <= self.rereads else frame.position",
            "frame.position",
            f"{RECORDS}::test_garbage_between_records {FRAMES}",
        ),
        Edit(
            "large-records-are-bombs",
            "jobs/kernel/archive/run_reader.py",
            "size > self._max_record and size > BOMB_RATIO * self._consumed",
            "size > self._max_record",
            f"{RECORDS}::test_too_large_records_are_captures_without_body {BOUNDS}",
        ),
    ),
    "links": (
        Edit(
            "location-of-201-is-no-link",
            "jobs/kernel/links/header_links.py",
            "(300 <= status < 400 or status == 201)",
            "300 <= status < 400",
            f"{HEADER_LINKS}::test_location",
        ),
        Edit(
            "descriptors-of-srcset-are-links",
            "jobs/kernel/links/link_rules.py",
            'expected = word.endswith(",")',
            "expected = True",
            f"{LINKS}::test_the_table",
        ),
        Edit(
            "only-the-first-kind-of-reference-is-kept",
            "jobs/kernel/links/html_links.py",
            "references[index] = before + BETWEEN + kind",
            "references[index] = before",
            f"{KINDS}::test_a_target_that_is_referred_to_in_two_ways_has_two_kinds",
        ),
        Edit(
            "shared-body-stays-in-its-first-folder",
            "jobs/kernel/links/reference_kinds.py",
            "link.target if kind == UNKNOWN else",
            "link.target if kind in (UNKNOWN, b'0.1') else",
            f"{KINDS}::test_links_of_another_page_are_those_of_the_same_body_there",
        ),
        Edit(
            "path-from-the-root-goes-after-the-folder",
            "jobs/kernel/links/joining.py",
            'before = directory.origin if reference[0] == "/" else directory.path',
            "before = directory.path",
            f"{JOINING}::test_many_references_on_many_bases",
        ),
        Edit(
            "broken-character-hides-the-quote-after-it",
            "jobs/kernel/encodings/decoding.py",
            "is_single = end > len(data) or data[start + 1] in ASCII",
            "is_single = end > len(data)",
            "tests/jobs/kernel/encodings/test_decoding.py::test_every_byte",
        ),
        Edit(
            "base-of-javascript-is-taken",
            "jobs/kernel/keys/uris.py",
            'uri.startswith(("data:", "javascript:"))',
            'uri.startswith("data:")',
            f"{LINKS}::test_bases tests/jobs/kernel/keys/test_uris.py",
        ),
        Edit(
            "links-of-errors-count",
            "jobs/kernel/captures/extraction.py",
            "good, outlinks = 200 <= status < 300, self._options.outlinks",
            "good, outlinks = 200 <= status, self._options.outlinks",
            f"{EXTRACTION}::test_links_come_from_2xx",
        ),
        Edit(
            "metadata-of-a-page-counts-beside-its-html",
            "jobs/kernel/captures/extraction.py",
            'lines_count = good and not (name == "html" and outlinks in ("html", "auto"))',
            "lines_count = good",
            "tests/jobs/kernel/captures/test_extraction_outlinks.py"
            "::test_html_and_outlinks_in_either_order"
            f" {EXTRACTION}",
        ),
        Edit(
            "base-of-an-element-lasts-after-it",
            "jobs/kernel/links/xml_links.py",
            "            self._open.pop()",
            "            pass",
            f"{XML}::test_the_base_is_that_of_the_next_element_around",
        ),
        Edit(
            "every-refresh-counts",
            "jobs/kernel/links/html_links.py",
            "for reference in references if not refreshed else ():",
            "for reference in references:",
            f"{CASES}::test_the_links_of_a_case",
        ),
        Edit(
            "manifests-of-robots-are-navigation",
            "jobs/kernel/captures/extraction.py",
            'return "X"',
            'return "L"',
            "tests/jobs/kernel/links/test_hops_of_outlinks.py::test_what_a_letter_counts_as",
        ),
        Edit(
            "null-ends-a-pdf",
            "jobs/kernel/links/pdf_annotations.py",
            "return self._object(dict.get(holder, name)) if _is_dictionary(holder) else None",
            "return self._object(dict.get(holder, name))",
            "tests/jobs/kernel/links/test_pdf_annotations.py"
            "::test_what_is_nothing_costs_itself_alone",
        ),
        Edit(
            "values-of-robots-rules-are-rules",
            "jobs/kernel/links/header_links.py",
            "at += 3",
            "at += 2",
            "tests/jobs/kernel/links/test_robots_rules.py::test_what_rules_say",
        ),
        Edit(
            "the-body-names-canonical-addresses",
            "jobs/kernel/markup/html_tokens.py",
            'elif name not in HEAD or (self._has_ended and name == b"noscript"):',
            "elif name not in HEAD and self._has_ended:",
            "tests/jobs/kernel/markup/test_html_head.py"
            "::test_links_in_the_head_are_those_of_a_parser",
        ),
        Edit(
            "every-shadow-root-of-an-element-counts",
            "jobs/kernel/links/html_documents.py",
            "if host.mem_id in hosts:",
            "if host.mem_id in ():",
            "tests/jobs/kernel/markup/test_shadow_roots.py::test_which_templates_are_content",
        ),
        Edit(
            "a-long-template-is-read-from-its-second-piece-on",
            "jobs/kernel/markup/html_pieces.py",
            "self._is_left_out = self.templates > 0",
            "self._is_left_out = False",
            "tests/jobs/kernel/markup/test_html_pieces.py"
            "::test_links_after_what_is_open_where_a_page_is_cut",
        ),
    ),
    "web": (
        Edit(
            "other-bytes-than-asked-for-are-taken",
            "jobs/kernel/storage/web/requests.py",
            "match[1] is None or int(match[1]) != begin",
            "match[1] is None",
            f"{WEB}::test_a_server_that_misbehaves {WEB_RUNS}",
        ),
        Edit(
            "a-changed-file-is-read-on",
            "jobs/kernel/storage/web/bodies.py",
            "if before and now and before != now:",
            "if before and now and before is None:",
            f"{WEB}::test_a_server_that_misbehaves {WEB_RUNS}",
        ),
        Edit(
            "a-redirect-without-encryption-is-followed",
            "jobs/kernel/storage/web/requests.py",
            'if scheme == "https" or (scheme == "http" and is_allowed(ALLOW_HTTP)):',
            'if scheme == "https" or scheme == "http":',
            f"{WEB}::test_no_redirect_leads_from_https_to_http {WEB_RUNS}",
        ),
        Edit(
            "bytes-come-again-after-a-fault",
            "jobs/kernel/storage/web/bodies.py",
            "self._answer = self._known.ask(self.at, self.end or ENDLESS)",
            "self._answer = self._known.ask(self._counted, self.end or ENDLESS)",
            f"{WEB}::test_a_server_that_misbehaves {WEB_RUNS}",
        ),
    ),
    "words": (
        Edit(
            "a-row-does-not-end-a-link",
            "jobs/kernel/markup/scan_words.py",
            "return bool(meaning & names.IS_PART and numbers[TABLES] == 0)",
            "return False",
            f"{WORDS}::test_the_words_of_a_link",
        ),
        Edit(
            "words-are-rows-each-time",
            "pipeline/engines/embedded/columns.py",
            "_, first = np.unique(code, return_index=True)",
            "first = np.arange(len(code))",
            f"{TEXTS}::test_lists_have_the_columns_of_archives_unleashed",
        ),
        Edit(
            "pages-name-themselves",
            "pipeline/analysis/anchor_texts.py",
            "WHERE key <> page GROUP BY",
            "GROUP BY",
            f"{TEXTS}::test_texts_are_counted_by_pages_and_hosts",
        ),
        Edit(
            "words-of-links-that-were-left-out-are-kept",
            "jobs/kernel/links/html_links.py",
            "if of_links and self._left_out:",
            "if False:",
            f"{TEXTS}::test_links_that_are_left_out_have_no_words",
        ),
        Edit(
            "what-links-of-a-topic-pass-is-not-added",
            "pipeline/ranking/topic.py",
            "weights[begin] += boosts[k]",
            "weights[begin] = boosts[k]",
            f"{TOPIC}::test_scores_are_within_their_bounds",
        ),
        Edit(
            "parts-of-words-are-of-a-topic",
            "pipeline/ranking/topic_words.py",
            "for phrase, weight in self.phrases if phrase in words",
            "for phrase, weight in self.phrases if phrase.strip() in words",
            f"{TOPIC}::test_phrases_are_words_that_follow_each_other",
        ),
        Edit(
            "all-words-before-a-link-are-around-it",
            "jobs/kernel/markup/link_words.py",
            "first, last = max(0, begin - 1 - AROUND), begin + len(words)",
            "first, last = 0, begin + len(words)",
            "tests/jobs/kernel/links/test_anchor_words.py::test_words_around_a_link",
        ),
        Edit(
            "words-around-a-link-count-as-its-own",
            "pipeline/workfolder/results/topics.py",
            "(coalesce(t.weight, 0) + a.weight) / 2 AS weight",
            "a.weight AS weight",
            "tests/runs/rankings/test_topic_runs.py::test_words_around_a_link_count_for_half",
        ),
    ),
}
