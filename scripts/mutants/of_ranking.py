"""Faults of rankings: their loops, sums, bounds, and the order and the classes made of them."""

from __future__ import annotations

from mutants.edit import Edit

RANKS = "tests/pipeline/engines/embedded/test_embedded_ranks.py"
TWINS = "tests/pipeline/ranking/test_twins.py"
KERNELS = "tests/pipeline/ranking/test_exact_sums.py"
ROUNDS = "tests/jobs/kernel/rank/test_rank.py"
PACKED = "tests/pipeline/engines/text/test_packed_ranking.py"
PACKING = "tests/jobs/kernel/rank/test_packing.py"
OPIC = "tests/pipeline/ranking/test_opic.py"
BOUNDS = "tests/pipeline/ranking/test_bounds_hold.py"
HITS = "tests/pipeline/ranking/test_hits.py"
CERTIFICATE = "tests/pipeline/ranking/test_certificate.py"
CLASSES = "tests/pipeline/ranking/test_classes.py"
VALIDATION = "tests/pipeline/ranking/test_validation.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "kernels": (
        Edit(
            "sweep-leaves-out-the-last-edge",
            "pipeline/ranking/pagerank/kernels.py",
            "last, flow = _U(ends[at + _ONE]), 0.0",
            "last, flow = _U(ends[at + _ONE] - 1), 0.0",
            f"{RANKS}::test_published_probabilities {KERNELS}",
        ),
        Edit(
            "pages-with-as-many-sources-are-twins",
            "pipeline/ranking/pagerank/twins.py",
            "        if sources[k] != sources[m]:",
            "        if sources[k] < 0:",
            f"{TWINS}::test_lists_are_compared_where_their_hashes_are_alike",
        ),
        Edit(
            "page-of-a-split-row-takes-that-of-its-row",
            "pipeline/ranking/pagerank/twins.py",
            "of_nodes[split] = of_split",
            "of_nodes[split] = slots[row_of[split]]",
            f"{TWINS}::test_positions_are_slots",
        ),
        Edit(
            "links-between-twins-are-left-out",
            "pipeline/ranking/pagerank/sweeps.py",
            "return whole, based, 1 - damping * self._lists.closed * whole",
            "return whole, based, np.ones(len(whole))",
            f"{TWINS}::test_a_menu_has_the_scores_of_its_closed_form",
        ),
        Edit(
            "eta-is-that-of-the-last-node",
            "pipeline/ranking/pagerank/kernels.py",
            "relative = max(relative, (abs(r[i]) + doubt) / least)",
            "relative = (abs(r[i]) + doubt) / least",
            f"{RANKS}::test_certificates_hold {KERNELS}",
        ),
        Edit(
            "residual-keeps-its-sign",
            "pipeline/ranking/weighted.py",
            "off = abs(score - scores[i]) + doubt",
            "off = score - scores[i] + doubt",
            "tests/pipeline/ranking/sites/test_site_method.py::test_a_star_of_sites"
            " tests/runs/rankings/test_sites.py",
        ),
        Edit(
            "chunks-are-carried-too-late",
            "pipeline/ranking/exact_sums.py",
            "if chunks[k] >= FULL or chunks[k + 1] >= FULL or chunks[k + 2] >= FULL:",
            "if chunks[k] >= FULL or chunks[k + 2] >= FULL:",
            f"{KERNELS}::test_no_chunk_overflows",
        ),
        Edit(
            "what-is-far-below-does-not-decide-a-tie",
            "pipeline/ranking/exact_sums.py",
            "more = more or chunks[k] != 0",
            "more = more or chunks[k] < 0",
            f"{KERNELS}::test_sums_are_correctly_rounded_in_any_grouping",
        ),
    ),
    "rounds": (
        Edit(
            "contributions-go-to-the-first-rows",
            "jobs/kernel/rank/packed_round.py",
            'incoming["rows"][end - length : end]',
            'incoming["rows"][:length]',
            f"{PACKED}::test_every_round_tells_the_truth {PACKING}",
        ),
        Edit(
            "one-round-more-than-allowed",
            "pipeline/ranking/options.py",
            "len(rounds) >= self.max_rounds",
            "len(rounds) > self.max_rounds",
            "tests/pipeline/engines/text/test_ranking.py"
            "::test_a_round_stays_until_one_behind_it_is_saved"
            f" {HITS}",
        ),
    ),
    "opic": (
        Edit(
            "sweep-forgets-cash-that-a-page-has",
            "pipeline/ranking/opic.py",
            "cash[targets[edge]] += part",
            "cash[targets[edge]] = part",
            f"{OPIC}::test_no_certificate_is_exceeded",
        ),
        Edit(
            "opic-certificate-without-base",
            "pipeline/ranking/opic.py",
            "(apart + 2 * doubt) / (RECIPE.base * total_h)",
            "(apart + 2 * doubt) / total_h",
            f"{OPIC}::test_no_certificate_is_exceeded {VALIDATION}",
        ),
    ),
    "hits": (
        Edit(
            "relevance-of-a-page-is-left-out",
            "pipeline/ranking/hits/lanczos.py",
            "given = r * flow",
            "given = flow",
            f"{HITS}::test_the_certificate_bounds_the_distance_from_the_singular_pair",
        ),
    ),
    "bounds": (
        Edit(
            "certificate-without-base",
            "pipeline/ranking/certificate.py",
            "l1=(float(np.abs(r).sum()) + doubt) / (base * total) * SAFETY",
            "l1=(float(np.abs(r).sum()) + doubt) / total * SAFETY",
            f"{CERTIFICATE}::test_no_vector_is_further_off_than_its_certificate {VALIDATION}",
        ),
        Edit(
            "bound-of-reducers-without-base",
            "jobs/kernel/rank/plain_round.py",
            "self.damping * self.residual_l1 / (self._base * self.new_l1)",
            "self.damping * self.residual_l1 / self.new_l1",
            f"{ROUNDS}::test_certificates_of_rounds_hold_and_no_mass_is_lost {PACKED}",
        ),
        Edit(
            "mean-residual-is-taken-for-the-shift",
            "jobs/kernel/rank/plain_round.py",
            "self.shifted_l1 + self.nodes * abs(mean - self.shift)",
            "self.shifted_l1",
            f"{ROUNDS}::test_no_shift_makes_the_bound_of_probabilities_too_small"
            " tests/jobs/test_page_rank.py",
        ),
        Edit(
            "teleport-is-taken-for-even",
            "pipeline/ranking/pagerank/method.py",
            "shifted + (abs(r - shift_of_base * least) + doubt)",
            "shifted + (abs(r - shift_of_base * 0.15) + doubt)",
            f"{BOUNDS}::test_a_round_tells_what_its_vectors_are",
        ),
        Edit(
            "deviation-is-about-the-mean",
            "pipeline/ranking/pagerank/kernels.py",
            "total += abs(r[i] - mean * weights[i if each else 0])",
            "total += abs(r[i] - mean)",
            f"{BOUNDS}::test_residuals_deviate_from_a_multiple_of_the_weights",
        ),
        Edit(
            "bound-is-of-the-vector-that-enters",
            "jobs/kernel/rank/plain_round.py",
            "bound = (1 + moved) * self.damping * entering + 2 * moved",
            "bound = (1 + moved) * self.damping * entering",
            f"{ROUNDS}::test_no_shift_makes_the_bound_of_probabilities_too_small {BOUNDS}",
        ),
        Edit(
            "hits-communities-without-the-last-hub",
            "pipeline/ranking/hits/lanczos.py",
            "for k in range(offsets[j] + 1, offsets[j + 1]):",
            "for k in range(offsets[j] + 1, offsets[j + 1] - 1):",
            f"{HITS}::test_published_values",
        ),
        Edit(
            "length-is-taken-for-a-sum",
            "pipeline/ranking/hits/method.py",
            "2 * math.sqrt(nodes) * error / mass",
            "2 * error",
            f"{HITS}::test_the_bound_of_probabilities_holds_for_errors_of_all_pages",
        ),
        Edit(
            "bound-in-the-unit-of-scores-is-not-used",
            "pipeline/ranking/bounds.py",
            "most = scores[part] + absolute",
            "most = scores[part]",
            f"{CLASSES}::test_near_is_exactly_what_eta_can_move",
        ),
        Edit(
            "a-digit-too-many-is-resolved",
            "pipeline/ranking/bounds.py",
            "min(DIGITS, math.floor(-math.log10(2 * eta)))",
            "min(DIGITS, math.ceil(-math.log10(2 * eta)))",
            f"{CLASSES}::test_digits_follow_eta {VALIDATION}",
        ),
        Edit(
            "scaling-decides-what-lies-near-a-tie",
            "pipeline/ranking/bounds.py",
            "sure = (margin > 1e-3)",
            "sure = (margin > -1)",
            f"{CLASSES}::test_classes_are_those_of_the_text",
        ),
    ),
    "ties": (
        Edit(
            "class-of-the-next-place",
            "pipeline/ranking/classes.py",
            "np.minimum(1 + bins * position // nodes, bins)",
            "np.minimum(1 + bins * (position + 1) // nodes, bins)",
            f"{CLASSES}::test_classes_are_those_of_the_text",
        ),
        Edit(
            "boundaries-are-rounded-down",
            "pipeline/ranking/classes.py",
            "places = -(-np.arange(1, bins) * n // bins)",
            "places = np.arange(1, bins) * n // bins",
            f"{CLASSES}::test_near_is_exactly_what_eta_can_move",
        ),
        Edit(
            "preferences-the-wrong-way-round",
            "pipeline/ranking/classes.py",
            "return ~tie_weights(links, captures)",
            "return tie_weights(links, captures)",
            f"tests/runs/test_ties.py::test_everybody_cuts_the_classes_of_the_file {CLASSES}",
        ),
        Edit(
            "near-a-boundary-by-the-lower-score",
            "pipeline/ranking/classes.py",
            "_before(lowest, high[part], nodes), latest",
            "_before(lowest, low[part], nodes), latest",
            f"{CLASSES}::test_near_is_exactly_what_eta_can_move",
        ),
        Edit(
            "opic-allows-any-later-class",
            "pipeline/ranking/validation/validate.py",
            "(first <= ours.classes) & (ours.classes <= last)",
            "first <= ours.classes",
            f"{VALIDATION}::test_another_order_fails_by_agreement",
        ),
        Edit(
            "open-pages-with-any-score",
            "pipeline/ranking/validation/validate.py",
            "agrees &= (first == last) | _near(scores, other.scores, eta)",
            "agrees &= (first == last) | True",
            f"{VALIDATION}::test_a_wrong_order_fails_with_ties_together",
        ),
        Edit(
            "open-pages-are-counted-as-agreeing",
            "pipeline/ranking/validation/validate.py",
            "decided = count - undecided",
            "decided = count",
            f"{VALIDATION}::test_wrong_classes_are_counted_but_for_those_that_opic_leaves_open",
        ),
        Edit(
            "a-tied-node-counts-itself-twice",
            "pipeline/ranking/classes.py",
            "last = np.maximum(at_least + counted - 1, above)",
            "last = np.maximum(at_least + counted, above)",
            f"{CLASSES}::test_classes_are_those_of_the_text",
        ),
    ),
}
