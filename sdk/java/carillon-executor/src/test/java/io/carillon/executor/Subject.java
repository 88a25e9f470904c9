package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The executor for {@code carillon conformance}. */
final class Subject {
  private Subject() {}

  record Seconds(double seconds) {
    long end() {
      return System.nanoTime() + (long) (seconds * 1e9);
    }
  }

  record Count(int count) {}

  record Size(int bytes, double seconds) {}

  record Message(String message) {}

  record Jobs(List<String> jobs) {}

  static Handlers handlers() {
    Handlers handlers = new Handlers();
    handlers.register("echo", JsonNode.class, JsonNode.class, (run, params) -> params);
    handlers.register("item", Void.class, JsonNode.class, (run, nothing) -> run.item());
    handlers.register("fail", Message.class, Void.class, (run, p) -> {
      throw new IllegalStateException(p.message());
    });
    handlers.register("sleep", Seconds.class, Void.class, (run, p) -> {
      for (long end = p.end(); System.nanoTime() < end; ) {
        run.progress(50, "asleep");
        Thread.sleep(Math.max(Math.min(200, (end - System.nanoTime()) / 1_000_000), 1));
      }
      return null;
    });
    handlers.register("lines", Count.class, Void.class, (run, p) -> {
      for (int i = 1; i <= p.count(); i++) {
        run.log().info("line {}", i);
      }
      return null;
    });
    handlers.register("long", Void.class, Void.class, (run, nothing) -> {
      run.log().info("x".repeat(100_000));
      return null;
    });
    handlers.register("large", Size.class, String.class, (run, p) -> {
      String text = "x".repeat(p.bytes());
      run.progress(50, text);
      Thread.sleep((long) (p.seconds() * 1000));
      return text;
    });
    handlers.register("stubborn", Seconds.class, Void.class, (run, p) -> {
      for (long end = p.end(); System.nanoTime() < end; ) {
        try {
          Thread.sleep(100);
        } catch (InterruptedException e) {
          // that is what it is for
        }
      }
      return null;
    });
    handlers.register("start", Jobs.class, List.class, (run, p) -> {
      List<String> ids = new ArrayList<>();
      for (String job : p.jobs()) {
        ids.add(run.start(job, Map.of("n", 1)));
      }
      return ids;
    });
    handlers.register("nan", Void.class, Map.class, (run, nothing) -> Map.of("ratio", Double.NaN));
    return handlers;
  }

  public static void main(String[] args) {
    Executor.run(Options.fromEnvironment().slots(4).grace(Duration.ofSeconds(2)), handlers());
  }
}
