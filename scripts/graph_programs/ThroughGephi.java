// Opens a graph as Gephi does, by its own toolkit, and writes it again.
//
// java -cp "GEPHI_TOOLKIT/lib/*" ThroughGephi.java [--statistics] GRAPH [COPY...]
//
// The lines have fields between tabs: `graph` and its kind; `node`, its id, its label and each
// attribute as NAME=VALUE; `edge`, the ids of its ends and its weight; `note`, and what Gephi says of
// the file. Gephi writes each COPY in the format of its end. --statistics: its PageRank, HITS and
// centralities are attributes, too.

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.gephi.graph.api.Column;
import org.gephi.graph.api.Edge;
import org.gephi.graph.api.GraphController;
import org.gephi.graph.api.GraphModel;
import org.gephi.graph.api.Node;
import org.gephi.io.exporter.api.ExportController;
import org.gephi.io.importer.api.Container;
import org.gephi.io.importer.api.ImportController;
import org.gephi.io.processor.plugin.DefaultProcessor;
import org.gephi.project.api.ProjectController;
import org.gephi.statistics.plugin.GraphDistance;
import org.gephi.statistics.plugin.Hits;
import org.gephi.statistics.plugin.PageRank;
import org.openide.util.Lookup;

public class ThroughGephi {
    public static void main(String[] arguments) throws Exception {
        List<String> words = new ArrayList<>(List.of(arguments));
        boolean statistics = words.remove("--statistics");
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        ProjectController projects = Lookup.getDefault().lookup(ProjectController.class);
        projects.newProject();
        ImportController imports = Lookup.getDefault().lookup(ImportController.class);
        Container container = imports.importFile(new File(words.get(0)));
        imports.process(container, new DefaultProcessor(), projects.getCurrentWorkspace());
        container.getReport().getIssues(Integer.MAX_VALUE).forEachRemaining(
            issue -> out.println("note\t" + issue.getLevel() + "\t" + issue.getMessage()));
        GraphModel model = Lookup.getDefault().lookup(GraphController.class).getGraphModel();
        if (statistics) {
            compute(model);
        }
        out.println("graph\t" + (model.isDirected() ? "directed" : "undirected"));
        for (Node node : model.getGraph().getNodes().toArray()) {
            out.print("node\t" + node.getId() + "\t" + Objects.toString(node.getLabel(), ""));
            for (Column column : model.getNodeTable()) {
                Object value = node.getAttribute(column);
                if (!column.isProperty() && value != null) {
                    out.print("\t" + column.getTitle() + "=" + value);
                }
            }
            out.println();
        }
        for (Edge edge : model.getGraph().getEdges().toArray()) {
            out.println("edge\t" + edge.getSource().getId() + "\t" + edge.getTarget().getId()
                + "\t" + edge.getWeight());
        }
        out.flush();
        ExportController exports = Lookup.getDefault().lookup(ExportController.class);
        for (String copy : words.subList(1, words.size())) {
            exports.exportFile(new File(copy));
        }
    }

    private static void compute(GraphModel model) {
        PageRank pageRank = new PageRank();
        pageRank.setDirected(true);
        pageRank.setEpsilon(1e-12);
        pageRank.execute(model);
        Hits hits = new Hits();
        hits.setUndirected(false);
        hits.setEpsilon(1e-12);
        hits.execute(model);
        GraphDistance distances = new GraphDistance();
        distances.setDirected(true);
        distances.setNormalized(true);
        distances.execute(model);
    }
}
