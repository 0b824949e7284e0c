// Looks URIs up as a crawl does: by Heritrix's own policy, in the store of a job, which is only read.
//
// java -cp "HERITRIX_HOME/lib/*" groovy.ui.GroovyMain look_up.groovy JOB/state < URIs
//
// The first line is the number of precedences in the store. A line for each URI follows: the
// precedence that the file gave it, 0 where Heritrix finds none, `-` where it takes it for no URI.
// After a count of 0 there are no lines.

import com.sleepycat.bind.serial.SerialBinding
import com.sleepycat.bind.tuple.StringBinding
import com.sleepycat.collections.StoredSortedMap
import groovy.transform.CompileStatic
import org.archive.crawler.frontier.precedence.BaseUriPrecedencePolicy
import org.archive.crawler.frontier.precedence.PreloadedUriPrecedencePolicy
import org.archive.modules.CoreAttributeConstants
import org.archive.modules.CrawlURI
import org.archive.modules.recrawl.PersistProcessor
import org.archive.net.UURIFactory

class Policy extends PreloadedUriPrecedencePolicy {
    Policy(StoredSortedMap stored) {
        store = stored
        basePrecedence = 0
        defaultUriPrecedencePolicy = new BaseUriPrecedencePolicy(basePrecedence: 0)
    }
}

@CompileStatic
class LookUp {
    static void run(File folder) {
        def state = PersistProcessor.setupCopyEnvironment(folder, true)
        if (!state.databaseNames.contains(PersistProcessor.URI_HISTORY_DBNAME)) {
            println(0)
            return
        }
        def config = PersistProcessor.HISTORY_DB_CONFIG.toDatabaseConfig()
        config.readOnly = true
        def history = state.openDatabase(null, PersistProcessor.URI_HISTORY_DBNAME, config)
        def values = new SerialBinding(state.classCatalog, Map)
        def stored = new StoredSortedMap(history, new StringBinding(), values, false)
        answer(stored, new PrintStream(new FileOutputStream(FileDescriptor.out), false, 'UTF-8'))
        history.close()
        state.close()
    }

    private static void answer(StoredSortedMap stored, PrintStream out) {
        long count = 0
        def all = stored.values().iterator()
        while (all.hasNext()) {
            if (((Map) all.next()).containsKey(CoreAttributeConstants.A_PRECALC_PRECEDENCE)) count++
        }
        out.println(count)
        def policy = new Policy(stored)
        def lines = new BufferedReader(new InputStreamReader(System.in, 'UTF-8'))
        for (String uri = lines.readLine(); uri != null; uri = lines.readLine()) {
            try {
                def scheduled = new CrawlURI(UURIFactory.getInstance(uri))
                policy.uriScheduled(scheduled)
                out.println(scheduled.precedence)
            } catch (IOException ignored) {
                out.println('-')
            }
        }
        out.flush()
    }
}

LookUp.run(new File(args[0]))
