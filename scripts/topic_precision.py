"""How many of the first pages of a ranking by topic are of the topic, beside PageRank and a search.

    python scripts/topic_precision.py ARCHIVE… [--first 50] [--times 3]

Of three topics, each some phrases, it ranks the crawl by `--method topic`, by PageRank, and by a
search: how many pages have links with a phrase to the page. A page is of the topic if its own text,
without the words of its links, has the phrases so many times. Only captured HTML pages count.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "bench"))

from bench_extract import html_responses
from selectolax.lexbor import LexborHTMLParser

import crawlrank
from crawlrank.pipeline.ranking.topic_words import folded

TOPICS = {
    "machine learning": ("machine learning", "data mining", "neural network", "neural networks"),
    "admission": ("admission", "admissions", "apply", "applicants"),
    "security": ("security", "privacy", "cryptography", "malware"),
}


def own_text(body: bytes) -> str:
    """The text of a page, folded, without the words of its links."""
    tree = LexborHTMLParser(body)
    for node in tree.css("a, script, style, title"):
        node.decompose()
    return folded(tree.root.text(separator=" ") if tree.root else "")


def times(text: str, phrases: Sequence[str]) -> int:
    return sum(len(re.findall(re.escape(folded(phrase)), text)) for phrase in phrases)


def listed(work: Path, ranking: str, tmp: Path) -> Iterator[str]:
    """The URIs of captured HTML pages, best first."""
    output = tmp / "pages.jsonl"
    crawlrank.export(work, output=output, ranking=ranking, status="2xx")
    for line in output.read_text().splitlines():
        row = json.loads(line)
        if row["captures"] and "html" in (row["media_type"] or ""):
            yield row["url"]


def searched(archives: Sequence[Path], phrases: Sequence[str]) -> list[str]:
    """The URIs that links with a phrase lead to, those of the most pages first."""
    pages: dict[str, set[str]] = {}
    for anchor in crawlrank.extract(archives, anchor_text=True).anchors():
        words = folded(anchor.words)
        if anchor.source != anchor.target and any(folded(phrase) in words for phrase in phrases):
            pages.setdefault(anchor.target, set()).add(anchor.source)
    return sorted(pages, key=lambda uri: (-len(pages[uri]), uri))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--first", type=int, default=50)
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    texts = {
        uri: own_text(body) for archive in options.archives for uri, body in html_responses(archive)
    }
    with tempfile.TemporaryDirectory() as name:
        tmp = Path(name)
        work = tmp / "work"
        crawlrank.run(options.archives, work=work, anchor_text=True, titles=True, validate=False)
        print(f"{len(texts):,} pages; of the first {options.first}, in per cent:")
        print(f"{'topic':<20}{'of all pages':>14}{'pagerank':>10}{'search':>8}{'topic':>8}")
        for topic, phrases in TOPICS.items():
            (tmp / "words.txt").write_text("\n".join(phrases) + "\n")
            label = topic.replace(" ", "-")
            crawlrank.rank(work, method="topic", words=tmp / "words.txt", name=label)
            about = {uri for uri, text in texts.items() if times(text, phrases) >= options.times}
            orders = (listed(work, "run", tmp), searched(options.archives, phrases))
            shares = [100 * len(about) / len(texts)]
            for order in (*orders, listed(work, label, tmp)):
                first = [uri for uri in order if uri in texts][: options.first]
                shares.append(100 * sum(uri in about for uri in first) / options.first)
            print(
                f"{topic:<20}{shares[0]:>14.1f}{shares[1]:>10.0f}{shares[2]:>8.0f}{shares[3]:>8.0f}"
            )


if __name__ == "__main__":
    main()
