// `crawlrank recrawl` put this file into the job, with pages.tsv beside it and a bean that runs it.
//
// Heritrix runs it once in each launch, before it fetches its first URI; not in a launch from a
// checkpoint, whose queues are full. Each line of the pages is a URI that waits in its queue then:
//
//   precedence TAB URI TAB hops TAB via TAB how
//
// in-scope  scheduled if the scope of the job accepts it, with these hops from a seed
// always    scheduled
// seed      announced as a seed, so that its folder may become part of the scope
// looked-up not scheduled; its precedence, level and queue are compared as those of the others
//
// All are scheduled at the level of seeds, so that precedence alone orders seeds and pages. What was
// not scheduled, or not with the precedence of its line, goes to crawlrank-pages.log among the logs
// of the launch. A precedence, a level or an order of queues that something else in the job has
// changed ends the crawl; so does a page whose queue would never be taken.

import java.util.logging.Logger
import org.archive.crawler.framework.CrawlStatus
import org.archive.modules.CrawlURI
import org.archive.modules.SchedulingConstants
import org.archive.net.UURIFactory
import org.archive.spring.KeyedProperties

class Pages {
    static final BASE = 1  // which the policy adds to each precedence
    static final QUEUES = 'HighestUriQueuePrecedencePolicy'
    static final WRONG = ['other-precedence', 'other-level', 'other-order-of-queues', 'never-fetched']
    static final RIGHT = ['scheduled', 'looked-up']
    final frontier, scope, sheets, listeners, part
    final Map<String, Long> counts = [:].withDefault { 0L }

    Pages(context) {
        frontier = context.getBean('frontier')
        scope = frontier.scope
        sheets = context.getBean('sheetOverlaysManager')
        listeners = context.getBean('seeds').seedListeners
        part = context.containsBean('crawlrankPart') ? context.getBean('crawlrankPart') : null
    }

    void schedule(File pages, File log) {
        log.withWriter('UTF-8') { out ->
            pages.eachLine('UTF-8') { line ->
                def (precedence, uri, hops, via, how) = line.split('\t')
                def told = outcome(precedence.toInteger() + BASE, uri, hops, via, how)
                counts[told]++
                if (!(told in RIGHT)) out.write("$told $uri\n")
            }
            counts.each { told, count -> out.write("# $told: $count\n") }
        }
    }

    private String outcome(int precedence, String uri, String hops, String via, String how) {
        try {
            // the writer of WARC files fails for what is no seed and has no via
            def from = via != '-' ? via : how == 'seed' ? null : uri
            def page = new CrawlURI(of(uri), hops == '-' ? '' : hops, of(from), null)
            page.schedulingDirective = SchedulingConstants.MEDIUM
            if (part != null && part.map(page) != part.localName) return 'of-another-part'
            def (accepted, queues, most) = decided(page, how)
            if (!accepted) return 'out-of-scope'
            if (how == 'seed') {
                page.seed = true
                listeners.each { it.addedSeed(page) }
            } else if (how != 'looked-up') {
                frontier.schedule(page)
            }
            if (page.precedence != precedence) return 'other-precedence'
            if (page.schedulingDirective != SchedulingConstants.MEDIUM) return 'other-level'
            if (queues != QUEUES) return 'other-order-of-queues'
            if (precedence >= most) return 'never-fetched'
            return how == 'looked-up' ? how : 'scheduled'
        } catch (IOException ignored) {
            return 'no-uri'
        }
    }

    /** With the sheets of its URI: whether the page may be scheduled, the policy of its queue, and the
     *  precedence from which a queue with nothing better is never taken. */
    private List decided(page, String how) {
        sheets.applyOverlaysTo(page)
        KeyedProperties.loadOverridesFrom(page)
        try {
            def queues = frontier.queuePrecedencePolicy
            def most = queues.hasProperty('basePrecedence') ?
                frontier.precedenceFloor - queues.basePrecedence : Integer.MAX_VALUE
            if (how == 'looked-up') frontier.frontierPreparer.prepare(page)
            return [how != 'in-scope' || scope.accepts(page), queues.class.simpleName, most]
        } finally {
            KeyedProperties.clearOverridesFrom(page)
        }
    }

    private of(String uri) {
        uri == null ? null : UURIFactory.getInstance(uri)
    }
}

def process(curi) {}

if (context.getBean('checkpointService').recoveryCheckpoint == null) {
    def pages = new Pages(context)
    def folder = self.scriptSource.file.parentFile
    def log = new File(context.getBean('loggerModule').path.file, 'crawlrank-pages.log')
    pages.schedule(new File(folder, 'pages.tsv'), log)
    def wrong = Pages.WRONG.sum { pages.counts[it] }
    if (wrong) {
        Logger.getLogger('crawlrank').severe("$wrong pages would not be fetched in the order of the" +
            " precedence file: something in the job overrides its policies, or another file was loaded" +
            " since `crawlrank recrawl`. The crawl was ended; $log lists the pages.")
        context.getBean('crawlController').requestCrawlStop(CrawlStatus.ABORTED)
    }
}
self.enabled = false
