package io.carillon.executor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The executor for load: see internal/e2e/load/main.go, which has the same handlers. */
final class Load {
  private Load() {}

  record Params(double seconds, int attempts) {}

  public static void main(String[] args) {
    Path file = Path.of(System.getenv().getOrDefault("JOURNAL", "journal"));
    Handlers handlers = new Handlers();
    handlers.register("noop", Void.class, Void.class, (run, nothing) -> null);
    handlers.register("journal", Params.class, Void.class, (run, p) -> {
      Files.writeString(file, run.id() + " " + run.delivered() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      run.log().info("journal written");
      Thread.sleep((long) (p.seconds() * 1000));
      if (run.attempt() < p.attempts()) {
        throw new IllegalStateException("this attempt has to fail");
      }
      return null;
    });
    handlers.register("halt", Void.class, Void.class, (run, nothing) -> {
      Files.writeString(file, run.id() + " " + run.delivered() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      Runtime.getRuntime().halt(3);
      return null;
    });
    Executor.run(Options.fromEnvironment(), handlers);
  }
}
