package examples.plain;

import io.carillon.executor.Executor;
import io.carillon.executor.FinalException;
import io.carillon.executor.Handlers;
import io.carillon.executor.Options;
import java.util.List;
import java.util.Map;

public final class Reports {
  record Report(String region, int rows) {}

  static Handlers handlers() {
    Handlers handlers = new Handlers();
    handlers.register("report", Report.class, Map.class, (run, p) -> {
      if (!List.of("north", "south").contains(p.region())) {
        throw new FinalException("there is no region " + p.region()); // no retry helps
      }
      run.log().info("begun {}", p.region());
      for (int row = 1; row <= p.rows(); row++) {
        run.check(); // throws if the run has to end
        run.progress(100.0 * row / p.rows(), p.region());
      }
      return Map.of("written", p.rows());
    }).description("Writes the report of a region");
    return handlers;
  }

  public static void main(String[] args) {
    Executor.run(Options.fromEnvironment(), handlers());
  }
}
