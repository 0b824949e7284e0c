// Opens a graph as Gephi does, by its own toolkit, and writes it again.
//
// java -cp "GEPHI_TOOLKIT/lib/*" ThroughGephi.java GRAPH [COPY...]
//
// The lines have fields between tabs: `graph` and its kind; `node`, its id, its label and each
// attribute as NAME=VALUE; `edge`, the ids of its ends and its weight; `note`, and what Gephi says of
// the file. Gephi writes each COPY in the format of its end.

import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
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
import org.openide.util.Lookup;

public class ThroughGephi {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        ProjectController projects = Lookup.getDefault().lookup(ProjectController.class);
        projects.newProject();
        ImportController imports = Lookup.getDefault().lookup(ImportController.class);
        Container container = imports.importFile(new File(arguments[0]));
        imports.process(container, new DefaultProcessor(), projects.getCurrentWorkspace());
        container.getReport().getIssues(Integer.MAX_VALUE).forEachRemaining(
            issue -> out.println("note\t" + issue.getLevel() + "\t" + issue.getMessage()));
        GraphModel model = Lookup.getDefault().lookup(GraphController.class).getGraphModel();
        out.println("graph\t" + (model.isDirected() ? "directed" : "undirected"));
        for (Node node : model.getGraph().getNodes().toArray()) {
            out.print("node\t" + node.getId() + "\t" + node.getLabel());
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
        for (int i = 1; i < arguments.length; i++) {
            exports.exportFile(new File(arguments[i]));
        }
    }
}
