"""The Spring beans that make Heritrix use a precedence file as intended.

Heritrix adds the policy's base, 1, to every value of the file, so values 1..125 become 2..126. For
URIs that are not in the file it uses the default policy unchanged: its base is `unlisted` + 1. In a
queue it clips precedence at 127: everything above is one class. Queues are taken in the order of
the best URI in each; without that policy they go one after the other.
"""

from __future__ import annotations

import textwrap

from jobs.kernel.errors import BadInput

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
        "dispositionProcessors" that is there. `crawlrank audit-precedence` then tells causes for
        certain.
     4. Before a launch, while the job is torn down, load the file into its state folder:

          java -cp "HERITRIX_HOME/lib/*" \\
            org.archive.crawler.frontier.precedence.PrecedenceLoader precedence.txt JOB/state

        It ends with "... entries loaded". Any exception means that nothing was loaded: check the
        file with `crawlrank export-precedence` and its option lint. Loading again replaces the
        precedences of the URIs in the file; the others keep theirs.

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


def indented(text: str, columns: int) -> str:
    """The lines, further to the right."""
    return textwrap.indent(text, " " * columns)
