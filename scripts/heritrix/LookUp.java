// Looks URIs up among the precedences that a job has loaded, by Heritrix's own classes.
//
// java -cp "HERITRIX_HOME/lib/*" LookUp.java JOB/state < URIs
//
// First the number of entries; then for each URI, tab-separated: the URI, the key that Heritrix
// makes of it as it does for a URI that it schedules, and the precedence stored there, or `-`.

import com.sleepycat.bind.serial.SerialBinding;
import com.sleepycat.bind.serial.StoredClassCatalog;
import com.sleepycat.bind.tuple.StringBinding;
import com.sleepycat.collections.StoredSortedMap;
import com.sleepycat.je.Database;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.archive.modules.CoreAttributeConstants;
import org.archive.modules.CrawlURI;
import org.archive.modules.recrawl.PersistProcessor;
import org.archive.net.UURIFactory;
import org.archive.util.bdbje.EnhancedEnvironment;

public class LookUp {
    public static void main(String[] arguments) throws Exception {
        EnhancedEnvironment state = PersistProcessor.setupCopyEnvironment(new File(arguments[0]), true);
        StoredClassCatalog classes = state.getClassCatalog();
        var config = PersistProcessor.HISTORY_DB_CONFIG.toDatabaseConfig();
        config.setReadOnly(true);
        Database history = state.openDatabase(null, PersistProcessor.URI_HISTORY_DBNAME, config);
        var stored = new StoredSortedMap<String, Map>(
            history, new StringBinding(), new SerialBinding<Map>(classes, Map.class), false);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.println(stored.values().stream().filter(map -> precedence(map) != null).count());
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String uri = lines.readLine(); uri != null; uri = lines.readLine()) {
            String key = PersistProcessor.persistKeyFor(new CrawlURI(UURIFactory.getInstance(uri)));
            Object found = precedence(stored.get(key));
            out.println(uri + "\t" + key + "\t" + (found == null ? "-" : found));
        }
        history.close();
        state.close();
    }

    private static Object precedence(Map stored) {
        return stored == null ? null : stored.get(CoreAttributeConstants.A_PRECALC_PRECEDENCE);
    }
}
