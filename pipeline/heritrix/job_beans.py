"""The crawler-beans.cxml of a job, made to crawl in the order of a precedence file.

Beans are compared by what they mean. What is as wanted already stays as it is, and so do comments
and all other bytes. A file that could mean something else than its beans say is left alone.

How many URIs a crawl fetches of each host: the budget of the crawl, shared by the ranking.

A host gets the part of the budget that its pages have of all scores, at least 1. Heritrix counts
what the host answers, robots.txt, redirects and errors among it, and gives up the rest of its URIs
with status -5003 (its QuotaEnforcer). The quotas are sheets: one for each number, over the SURT
prefixes of its hosts. Numbers have two digits, so that there are few. Hosts that the ranking does
not know have no quota.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.analysis.audit.crawl_log import PAGES_BEAN
from crawlrank.pipeline.analysis.host_table import read_hosts
from crawlrank.pipeline.heritrix.bean_file import BeanFile, Edits, Element
from crawlrank.pipeline.heritrix.overriding import imported_files, require_followed
from crawlrank.pipeline.precedence.beans import (
    ANNOTATOR,
    PART,
    QUEUES,
    QUOTA,
    QUOTA_BEAN,
    part_bean,
    policy_bean,
    quota_sheet,
    scheduler_bean,
)
from crawlrank.pipeline.precedence.page_table import RankedPages
from crawlrank.pipeline.workfolder.results.dataset_folders import finished_manifest

ANNOTATOR_BEAN = "precedenceAnnotator"
POLICIES = "org.archive.crawler.frontier.precedence."
SEED_LINE = re.compile(r"^[ \t]*([A-Za-z0-9]\S*)", re.MULTILINE)  # what begins else is no seed


@dataclass(frozen=True)
class Wanted:
    """unlisted: precedence of URIs that are not in the file. script_folder: of the script that
    schedules pages, in the job's folder; None where there is none. annotate: log the precedence of
    each fetch. part: which of how many parts of the sites the job crawls. sheets: of quotas, as
    (id, text)."""

    unlisted: int
    script_folder: str | None
    annotate: bool = True
    part: tuple[int, int] | None = None
    sheets: Sequence[tuple[str, str]] = ()


class JobBeans(BeanFile):
    """The beans of a job. name: of the file, for messages and for what it imports. Raises BadInput
    where the file is not understood."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name)
        self.imported = imported_files(self)

    def patched(self, wanted: Wanted) -> Edits:
        """The edits after which the job does what is wanted; none where it does already. Raises
        BadInput."""
        require_followed([self, *self.imported], Path(self.name).parent)
        edits = Edits(self.data)
        self._set_policy(edits, wanted)
        self._set_property(edits, "frontier", "queuePrecedencePolicy", QUEUES)
        if wanted.part:
            self._set_bean(edits, PART, part_bean(*wanted.part))
            self._refer(edits, "candidateProcessors", PART, first=False)
        else:
            self._drop(edits, "candidateProcessors", PART)
        self._set_quotas(edits, wanted)
        if wanted.script_folder:
            self._set_bean(edits, PAGES_BEAN, scheduler_bean(wanted.script_folder))
            self._refer(edits, "fetchProcessors", PAGES_BEAN, first=True)
        else:
            self._drop(edits, "fetchProcessors", PAGES_BEAN)
        if wanted.annotate:
            self._set_bean(edits, ANNOTATOR_BEAN, ANNOTATOR)
            self._refer(edits, "dispositionProcessors", ANNOTATOR_BEAN, first=False)
        self._remove_overrides(edits, wanted)
        return edits

    def bean(self, name: str) -> Element:
        for file in self.imported if not self.beans(name) else ():
            if file.beans(name):
                cure = f"Move it to {self.name}. No file was changed."
                raise self.refusal(f"the bean {name} is in {file.name}, which it imports", cure)
        return super().bean(name)

    def state_folder(self) -> str:
        """The name of the folder of the job's store, in the job's folder. Raises BadInput."""
        values = list[str]()
        for file in (self, *self.imported):
            values += [text for key, text in file.overrides() if key == "bdb.dir"]
        for file in (self, *self.imported):
            for bean in file.beans("bdb"):
                values += [
                    each.attributes.get("value", "") for each in bean.named("property", name="dir")
                ]
        folder = values[0].strip() if values else "state"
        if not folder or "$" in folder:
            raise self.refusal(f"the folder of the store is {folder!r}, of the bean bdb")
        return folder

    def seeds(self, folder: Path) -> list[str]:
        """The seeds of the job in that folder, as far as the beans tell."""
        files = (self, *self.imported)
        overrides = [pair for file in files for pair in file.overrides()]
        texts = [text for key, text in overrides if key == "seeds.textSource.value"]
        beans = [bean for file in files for bean in file.beans("seeds")]
        sources = [each for bean in beans for each in bean.named("property", name="textSource")]
        for source in (element for each in sources for element in each.all()):
            if source.tag != "property":
                continue
            values = [value.text for value in source.named("value")]
            text = source.attributes.get("value", "\n".join(values))
            if source.attributes.get("name") == "path":
                path = folder / text.strip()
                text = path.read_text("utf-8-sig", "replace") if path.is_file() else ""
            texts.append(text)
        return [with_scheme(seed) for text in texts for seed in SEED_LINE.findall(text)]

    # ---- edits -------------------------------------------------------------------------------

    def _set_policy(self, edits: Edits, wanted: Wanted) -> None:
        text, own = policy_bean(unlisted=wanted.unlisted), self.beans("uriPrecedencePolicy")
        for bean in self.root.named("bean"):
            name = bean.attributes.get("class", "")
            if (
                name.startswith(POLICIES)
                and name.endswith("UriPrecedencePolicy")
                and bean not in own
            ):
                raise self.refusal(f"a further policy of precedence, {bean.attributes.get('id')}")
        for each in self.properties("preparer", "uriPrecedencePolicy"):
            references = [ref.attributes.get("bean") for ref in each.named("ref")]
            if (references or [each.attributes.get("ref")]) != ["uriPrecedencePolicy"]:
                raise self.refusal("another policy of precedence in the bean preparer")
        if own:
            edits.replace(own[0], text, self._instead(own[0]))
        else:
            edits.append(self.root, text, "bean uriPrecedencePolicy: added")

    def _set_property(self, edits: Edits, bean: str, name: str, text: str) -> None:
        if properties := self.properties(bean, name):
            edits.replace(properties[0], text, f"property {name} of bean {bean}: replaced")
        else:
            edits.append(self.bean(bean), text, f"property {name} of bean {bean}: added")

    def _set_quotas(self, edits: Edits, wanted: Wanted) -> None:
        names = {name for name, _ in wanted.sheets}
        for bean in self.root.named("bean"):
            name = bean.attributes.get("id", "")
            if name.startswith(QUOTA) and name not in {*names, QUOTA}:
                edits.remove(bean, f"bean {name}: removed")
        for name, text in wanted.sheets:
            self._set_bean(edits, name, text)
        if wanted.sheets:
            self._set_bean(edits, QUOTA, QUOTA_BEAN)
            self._refer(edits, "fetchProcessors", QUOTA, first=True)
        else:
            self._drop(edits, "fetchProcessors", QUOTA)

    def _refer(self, edits: Edits, chain: str, name: str, *, first: bool) -> None:
        """Add a processor to its chain."""
        processors = self._processors(chain)
        if not processors.named("ref", bean=name):
            text, what = f'<ref bean="{name}"/>\n', f"list of bean {chain}: {name} added"
            if first:
                edits.prepend(processors, text, f"{what}, the first")
            else:
                edits.append(processors, text, what)

    def _drop(self, edits: Edits, chain: str, name: str) -> None:
        """Remove a bean of ours, and the processor that it is."""
        for own in self.beans(name):
            edits.remove(own, f"bean {name}: removed")
            for ref in self._processors(chain).named("ref", bean=name):
                edits.remove(ref, f"list of bean {chain}: {name} removed")

    def _set_bean(self, edits: Edits, name: str, text: str) -> None:
        if own := self.beans(name):
            edits.replace(own[0], text, f"bean {name}: replaced")
        else:
            edits.append(self.root, text, f"bean {name}: added")

    def _processors(self, chain: str) -> Element:
        """The list of the processors of a chain."""
        self.bean(chain)
        lists = [
            each
            for processors in self.properties(chain, "processors")
            for each in processors.named("list")
        ]
        if len(lists) != 1:
            raise self.refusal(f"a bean {chain} without a list of processors")
        return lists[0]

    def _remove_overrides(self, edits: Edits, wanted: Wanted) -> None:
        """Remove overrides of what is set now, because an override would set it again, or fail."""
        keys = [
            "uriPrecedencePolicy",
            "frontier.queuePrecedencePolicy",
            "preparer.uriPrecedencePolicy",
        ]
        if wanted.script_folder:
            keys.append("crawlrankPages")
        if wanted.annotate:
            keys.append("precedenceAnnotator")
        names = re.compile(rf"(?:{'|'.join(map(re.escape, keys))})(?:[.\[].*)?\Z", re.DOTALL)
        for prop in self.props():
            if names.match(key := prop.attributes.get("key", "").strip()):
                edits.remove(prop, f"override of {key}: removed")
        for value in self.values():
            for start, end, key, _ in self.lines(value):
                if names.match(key):
                    edits.remove_range(start, end, f"override of {key}: removed")

    def _instead(self, bean: Element) -> str:
        name = bean.attributes.get("class", "").removeprefix(POLICIES)
        return f"bean uriPrecedencePolicy: replaced, a {name}"


MOST_HOSTS = 100_000  # more make a file of beans that Heritrix cannot hold


def quotas_of(ranked: RankedPages, ranking: Path, budget: int) -> dict[str, int]:
    """The quota of each host, by host without its port. ranking: the folder of a run or of a
    ranking. Raises BadInput."""
    rows = read_hosts(ranked, finished_manifest(ranking), "host", "score")
    scores = defaultdict[str, float](float)
    for host, score in zip(rows["host"].to_pylist(), rows["score"].to_pylist(), strict=True):
        name, _, port = host.partition(":")
        if ":" not in port:  # else an address of IPv6, which Heritrix does not fetch
            scores[name] += score or 0.0
    if len(scores) > MOST_HOSTS:
        raise BadInput(
            str(ranking), count_of(len(scores), "host"), f"{MOST_HOSTS:,} or fewer",
            "Heritrix holds a quota for each in memory: give it a part of the hosts.",
        )  # fmt: skip
    return shared(scores, budget)


def shared(scores: Mapping[str, float], budget: int) -> dict[str, int]:
    """The budget by parts of the sum of scores."""
    total = sum(scores.values()) or 1.0
    return {host: _rounded(budget * score / total) for host, score in scores.items()}


def quota_sheets(quotas: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The beans, as (id, text)."""
    hosts = defaultdict[int, list[str]](list)
    for host, quota in sorted(quotas.items()):
        # a key has no `www.`, so its host stands for both
        www = f"www.{host}" if is_name(host) and f"www.{host}" not in quotas else None
        hosts[quota] += [host, *filter(None, [www])]
    for quota, some in sorted(hosts.items()):
        prefixes = [prefix for host in some for prefix in surt_prefixes(host)]
        yield from quota_sheet(quota, prefixes)


def surt_prefixes(host: str) -> tuple[str, str]:
    """SURT prefixes of the URIs of a host, not of hosts below it: without a port, and with one."""
    form = host_in_surt(host)
    return f"http://({form})", f"http://({form}:"


def host_in_surt(host: str) -> str:
    """`org,example,` of example.org; an address as it is."""
    return "".join(f"{label}," for label in reversed(host.split("."))) if is_name(host) else host


def is_name(host: str) -> bool:
    """Whether it is no address."""
    return not host.startswith("[") and not host.replace(".", "").isdigit()


def _rounded(number: float) -> int:
    """Up to two digits, at least 1."""
    if number < 1:
        return 1
    step = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return round(number / step) * step


def with_scheme(seed: str) -> str:
    """The seed as Heritrix reads it: http where a period comes before the first colon, or no colon
    is there."""
    before, colon, _ = seed.partition(":")
    return seed if colon and "." not in before else f"http://{seed}"
