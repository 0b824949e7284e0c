"""The Spring beans that make Heritrix use a precedence file as intended.

Heritrix adds the policy's base, 1, to every value of the file, so values 1..125 become 2..126. For
URIs that are not in the file it uses the default policy unchanged: its base is `unlisted` + 1. In a
queue it clips precedence at 127: everything above is one class. Queues are taken in the order of
the best URI in each; without that policy they go one after the other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from crawlrank.jobs.kernel.errors import BadInput

BASE = 1
QUEUE_BASE = 3  # Heritrix's own default
CLIPPED = 127  # the last precedence that Heritrix distinguishes inside a queue
LAST_UNLISTED = CLIPPED - BASE

POLICY = """\
<bean id="uriPrecedencePolicy"
      class="org.archive.crawler.frontier.precedence.PreloadedUriPrecedencePolicy">
  <!-- Added to every value of the file; with 0 a value of 0 would count as not listed. -->
  <property name="basePrecedence" value="{base}"/>
  <property name="defaultUriPrecedencePolicy">
    <bean class="org.archive.crawler.frontier.precedence.BaseUriPrecedencePolicy">
      <!-- URIs that are not in the file: precedence {unlisted}, and {base} as for all others.
           Heritrix's own default is 1: they would come first. -->
      <property name="basePrecedence" value="{unlisted_base}"/>
    </bean>
  </property>
</bean>
"""
QUEUES = f"""\
<property name="queuePrecedencePolicy">
  <bean class="org.archive.crawler.frontier.precedence.HighestUriQueuePrecedencePolicy">
    <property name="basePrecedence" value="{QUEUE_BASE}"/>
  </bean>
</property>
"""
ANNOTATION = "precedence:"  # in crawl.log, with the precedence that Heritrix gave, base included
ANNOTATOR = f"""\
<bean id="precedenceAnnotator" class="org.archive.modules.ScriptedProcessor">
  <property name="scriptSource">
    <bean class="org.archive.spring.ConfigString">
      <property name="value">
        <value>
void process(curi) {{ curi.getAnnotations().add("{ANNOTATION}" + curi.getPrecedence()); }}
        </value>
      </property>
    </bean>
  </property>
</bean>
"""
ANNOTATING = '<ref bean="precedenceAnnotator"/>\n'
PAGES = "pages.tsv"  # what the script beside it schedules
PAGES_SCRIPT = "schedule_pages.groovy"
_SCHEDULER = """\
<bean id="crawlrankPages" class="org.archive.modules.ScriptedProcessor">
  <property name="engineName" value="groovy"/>
  <property name="isolateThreads" value="false"/>
  <property name="scriptSource">
    <bean class="org.archive.spring.ConfigFile">
      <property name="path" value="{path}"/>
    </bean>
  </property>
</bean>
"""
PART = "crawlrankPart"
_PART = """\
<bean id="crawlrankPart" class="org.archive.crawler.processor.HashCrawlMapper">
  <!-- Part {part} of {parts} of all sites, by a hash of their domains; others crawl the rest. -->
  <property name="localName" value="{name}"/>
  <property name="crawlerCount" value="{parts}"/>
</bean>
"""
QUOTA = "crawlrankQuota"
QUOTA_BEAN = """\
<bean id="crawlrankQuota" class="org.archive.crawler.prefetch.QuotaEnforcer">
  <!-- A URI beyond the quota of its host gets status -5003; a queue that were retired would wait
       for ever. -->
  <property name="forceRetire" value="false"/>
</bean>
"""
_SHEET = """\
<bean id="crawlrankQuota{quota}" class="org.archive.spring.Sheet">
  <property name="map">
    <map>
      <entry key="crawlrankQuota.hostMaxFetchSuccesses" value="{quota}"/>
    </map>
  </property>
</bean>
"""
_SHEET_HOSTS = """\
<bean id="crawlrankQuotaHosts{quota}"
      class="org.archive.crawler.spring.SurtPrefixesSheetAssociation">
  <property name="surtPrefixes">
    <list>
{prefixes}
    </list>
  </property>
  <property name="targetSheetNames">
    <list>
      <value>crawlrankQuota{quota}</value>
    </list>
  </property>
</bean>
"""

_FRAGMENT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Beans for Heritrix 3: crawl in the order of a precedence file. `crawlrank recrawl` puts them
     where they belong, makes the seeds and loads the file. By hand:

     1. Copy the bean "uriPrecedencePolicy" below into crawler-beans.cxml of your job, next to the
        other top-level beans. It must not stand inside another bean: Heritrix has to start it. It
        needs no reference, Heritrix finds it by its id.
     2. Copy the property "queuePrecedencePolicy" below into the bean "frontier" that your
        crawler-beans.cxml already has. Do not copy the bean "frontier" itself.
     3. If the log is to show what precedence each fetch had, copy the bean "precedenceAnnotator" to
        the top level, and the reference to it to the end of the list in the bean
        "dispositionProcessors" that is there. `crawlrank audit` then tells causes for certain.
     4. Before a launch, while the job is torn down, load the file into its state folder:

          java -cp "HERITRIX_HOME/lib/*" \\
            org.archive.crawler.frontier.precedence.PrecedenceLoader precedence.txt JOB/state

        It ends with "... entries loaded". Any exception means that nothing was loaded: check the
        file with `crawlrank audit`. Loading again replaces the precedences of the URIs in the file;
        the others keep theirs.

     Redirects, embeds and prerequisites go before links, whatever their precedence, and seeds
     before links that are found. For the exact order make all pages of the file seeds, and set
     candidates.seedsRedirectNewSeeds=false in simpleOverrides, or redirects of seeds are fetched
     again. With several threads or politeness delays the order is kept roughly. -->
<beans xmlns="http://www.springframework.org/schema/beans"
       xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
       xsi:schemaLocation="http://www.springframework.org/schema/beans
           http://www.springframework.org/schema/beans/spring-beans.xsd">

  <!-- 1. Top level of crawler-beans.cxml -->
{policy}
  <bean id="frontier" class="org.archive.crawler.frontier.BdbFrontier">
    <!-- 2. Only this property, into the bean "frontier" that is there -->
{queues}  </bean>

  <!-- 3. Top level of crawler-beans.cxml -->
{annotator}
  <bean id="dispositionProcessors" class="org.archive.modules.DispositionChain">
    <property name="processors">
      <list>
        <!-- 3. Only this reference, to the end of the list that is there -->
{annotating}      </list>
    </property>
  </bean>
</beans>
"""


def beans_fragment(*, unlisted: int) -> str:
    """The text of crawler-beans-fragment.xml: the beans, and instructions.

    unlisted: as in `policy_bean`. Raises BadInput for another value.
    """
    return _FRAGMENT.format(
        policy=indented(policy_bean(unlisted=unlisted), 2),
        queues=indented(QUEUES, 4),
        annotator=indented(ANNOTATOR, 2),
        annotating=indented(ANNOTATING, 8),
    )


def policy_bean(*, unlisted: int) -> str:
    """The bean that looks URIs up among those that were loaded.

    unlisted: precedence of URIs that are not in the file, on the scale of the file, 1..126.
    Raises BadInput for another value.
    """
    if not 1 <= unlisted <= LAST_UNLISTED:
        raise BadInput(
            "the precedence of URIs that are not listed",
            str(unlisted),
            f"a whole number from 1 to {LAST_UNLISTED}",
            f"Heritrix makes one class of everything above {LAST_UNLISTED}.",
        )
    return POLICY.format(base=BASE, unlisted=unlisted, unlisted_base=unlisted + BASE)


def scheduler_bean(script_folder: str) -> str:
    """The bean that schedules pages. script_folder: in the folder of the job."""
    return _SCHEDULER.format(path=f"{script_folder}/{PAGES_SCRIPT}")


def part_bean(part: int, parts: int) -> str:
    """The bean that leaves the URIs of other parts to other jobs. part: from 1."""
    return _PART.format(part=part, parts=parts, name=part - 1)


def quota_sheet(quota: int, prefixes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A sheet and the SURT prefixes that it is for, as (id, text)."""
    values = "\n".join(f"      <value>{escape(prefix)}</value>" for prefix in prefixes)
    yield f"{QUOTA}{quota}", _SHEET.format(quota=quota)
    yield f"{QUOTA}Hosts{quota}", _SHEET_HOSTS.format(quota=quota, prefixes=values)


def indented(text: str, columns: int) -> str:
    """The lines, further to the right."""
    return textwrap.indent(text, " " * columns)
