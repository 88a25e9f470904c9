package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;

/** The run of an attempt. */
final class LiveRun implements Run {
  private final Trigger trigger;
  private final RunLog lines;
  private final Consumer<Progress> progress;
  private final Starts starts;
  private final Logger logger;
  private volatile Map<String, String> secrets = Map.of();
  private volatile String traceParent;
  private volatile RunEndedException ending;

  /** How far a run is. */
  record Progress(double percent, String text) {}

  /** A run whose lines, progress and requests for other runs go to these. */
  LiveRun(Trigger trigger, RunLog lines, Consumer<Progress> progress, Starts.Server server) {
    this.trigger = trigger;
    this.lines = lines;
    this.progress = progress;
    this.starts = new Starts(server);
    this.logger = new RunLogger(lines, trigger.runId());
    this.traceParent = trigger.traceParent();
  }

  @Override
  public String id() {
    return trigger.runId();
  }

  @Override
  public String job() {
    return trigger.job();
  }

  @Override
  public String handler() {
    return trigger.handler();
  }

  @Override
  public int attempt() {
    return trigger.attempt();
  }

  @Override
  public int delivered() {
    return trigger.delivery().count();
  }

  @Override
  public long fence() {
    return trigger.delivery().fence();
  }

  @Override
  public Instant fireTime() {
    return trigger.instant("fire_time");
  }

  @Override
  public String cause() {
    return trigger.raw().path("cause").asText();
  }

  @Override
  public String step() {
    return trigger.raw().path("step").asText("");
  }

  @Override
  public JsonNode params() {
    return trigger.raw().get("params");
  }

  @Override
  public JsonNode item() {
    return trigger.raw().get("item");
  }

  @Override
  public Piece piece() {
    return new Piece(trigger.index(), Math.max(trigger.total(), 1));
  }

  @Override
  public boolean split() {
    return trigger.split();
  }

  @Override
  public String secret(String variable) {
    return secrets.getOrDefault(variable, "");
  }

  /** Gives the run its secrets, and masks them in all that it says from now on. */
  void secrets(Map<String, String> values) {
    secrets = values;
    lines.mask(new Masker(values.values()));
  }

  @Override
  public Logger log() {
    return logger;
  }

  /** Logs a line; see {@link RunLog#write}. */
  void write(String output, String level, String text) {
    lines.write(output, level, text);
  }

  /** Logs what went wrong. It does not wait. */
  void trace(Throwable thrown) {
    lines.add("stderr", "error", RunLogger.trace(thrown));
  }

  @Override
  public void progress(double percent, String text) {
    double within = Double.isNaN(percent) ? 0 : Math.min(Math.max(percent, 0), 100);
    progress.accept(new Progress(within, Wire.cut(masked(String.valueOf(text)), Wire.MAX_MESSAGE)));
  }

  @Override
  public String start(String job, Object params, StartOptions options) throws InterruptedException {
    return starts.start(job, params, options);
  }

  /** A text without the secrets of the run. */
  String masked(String text) {
    return lines.masked(text);
  }

  @Override
  public String traceParent() {
    return traceParent;
  }

  void traceParent(String parent) {
    traceParent = parent;
  }

  @Override
  public Ending ending() {
    RunEndedException e = ending;
    return e == null ? null : e.ending();
  }

  /** Why the run has to end, in words. */
  String endingText() {
    return ending.getMessage();
  }

  @Override
  public void check() {
    RunEndedException e = ending;
    if (e != null) {
      throw new RunEndedException(e.ending(), e.getMessage());
    }
  }

  void end(Ending why, String text) {
    if (ending == null) {
      ending = new RunEndedException(why, text);
    }
  }
}
