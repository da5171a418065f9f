// Scores tuples with SPICE's own scorer through its public classes. A line of standard input is a candidate and all its
// references, "tuple;tuple|tuple;tuple", a tuple being "object", "object,attribute" or "object,object,relation". A line
// of standard output is SPICE's JSON.

import edu.anu.spice.SceneGraph;
import edu.anu.spice.SpiceStats;
import edu.anu.spice.TupleFilter;
import edu.cmu.meteor.aligner.SynonymDictionary;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

public class SpiceOracle {
    public static void main(String[] arguments) throws Exception {
        String synonyms = "jar:file:" + arguments[0] + "!/synonym/english.";
        SynonymDictionary dictionary = new SynonymDictionary(
                new URL(synonyms + "exceptions"), new URL(synonyms + "synsets"), new URL(synonyms + "relations"));
        Map<String, TupleFilter> filters = new LinkedHashMap<>();
        filters.put("Object", TupleFilter.objectFilter);
        filters.put("Attribute", TupleFilter.attributeFilter);
        filters.put("Relation", TupleFilter.relationFilter);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        String line;
        while ((line = in.readLine()) != null) {
            String[] sides = line.split("\\|", -1);
            SpiceStats stats = new SpiceStats(filters, true);
            stats.score(1, graph(dictionary, sides[0]), graph(dictionary, sides[1]), true);
            out.println(stats.toJSONString());
        }
        out.flush();
    }

    static SceneGraph graph(SynonymDictionary dictionary, String tuples) {
        SceneGraph graph = new SceneGraph(dictionary, true);
        for (String tuple : tuples.split(";")) {
            if (!tuple.isEmpty()) {
                graph.addTuple(new ArrayList<>(Arrays.asList(tuple.split(","))));
            }
        }
        return graph;
    }
}
