package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs a handler in a unit test, without a broker.
 *
 * <pre>{@code
 * HandlerTest.End end = HandlerTest.of(handlers).attempt(2).run("report", Map.of("region", "north", "rows", 3));
 * assertEquals("succeeded", end.status());
 * }</pre>
 */
public final class HandlerTest {
  private static final ObjectMapper MAPPER = Handlers.mapper();
  private static final long MAX_LOG_LINES = 1_000_000;
  private static final long MAX_LOG_BYTES = 64L << 20;
  private static final String REPLY = "$JS.ACK.TRIG.any-test.1.1.1.1.0";

  private final Handlers handlers;
  private final ObjectNode raw = Json.object();
  private final Map<String, String> secrets = new TreeMap<>();
  private Duration timeout;
  private Duration cancelAfter;

  private HandlerTest(Handlers handlers) {
    this.handlers = handlers;
    String now = Wire.instant(Instant.now());
    raw.put("job", "test/job").put("version", 1).put("shard", 0).put("attempt", 1).put("cause", "schedule").put("fire_time", now)
        .put("committed_at", now);
  }

  /**
   * How a run ended, and what it said.
   *
   * @param started the runs that the handler wanted to start, as servers get the requests
   */
  public record End(String status, String message, JsonNode result, boolean isFinal, Duration retryAfter, List<String> lines, List<Progress> progress,
      List<JsonNode> started) {
    /** The result as a type of yours. */
    public <T> T resultAs(Class<T> type) {
      return MAPPER.convertValue(result, type);
    }

    /** Whether a line of its log contains the text. */
    public boolean logged(String text) {
      return lines.stream().anyMatch(line -> line.contains(text));
    }
  }

  /** How far a run said that it was. */
  public record Progress(double percent, String text) {}

  /** A test of these handlers. */
  public static HandlerTest of(Handlers handlers) {
    return new HandlerTest(handlers);
  }

  /** The job whose run it is. */
  public HandlerTest job(String name) {
    raw.put("job", name);
    return this;
  }

  /** Which try of the run it is, from 1. */
  public HandlerTest attempt(int number) {
    raw.put("attempt", number);
    return this;
  }

  /** Which piece of the run it is, from 0, and how many there are. */
  public HandlerTest piece(int index, int total) {
    raw.put("broadcast_index", index).put("broadcast_total", total);
    return this;
  }

  /** What the piece is about. */
  public HandlerTest item(Object value) {
    raw.set("item", MAPPER.valueToTree(value));
    return this;
  }

  /** Has the handler list the run's pieces. */
  public HandlerTest split() {
    raw.put("split", true);
    return this;
  }

  /** A secret of the task. */
  public HandlerTest secret(String variable, String value) {
    secrets.put(variable, value);
    return this;
  }

  /** The instant that the schedule named. Without, it is now. */
  public HandlerTest fireTime(Instant at) {
    raw.put("fire_time", Wire.instant(at));
    return this;
  }

  /** Why the run began: {@code manual}, {@code retry} and so on. Without, it is {@code schedule}. */
  public HandlerTest cause(String word) {
    raw.put("cause", word);
    return this;
  }

  /** The step of a workflow that the run does. Its cause is {@code step}. */
  public HandlerTest step(String name) {
    raw.put("step", name).put("cause", "step");
    return this;
  }

  /** How long the run may take. Without, there is no limit. */
  public HandlerTest timeout(Duration most) {
    timeout = most;
    return this;
  }

  /** Cancels the run so long after it begins. */
  public HandlerTest cancelAfter(Duration time) {
    cancelAfter = time;
    return this;
  }

  /**
   * Does one run, as an executor would. {@code params} is anything that Jackson writes, or null. A
   * run that ignores for 10 s that it has to end is left behind.
   */
  public End run(String handler, Object params) {
    if (!handlers.all().containsKey(handler)) {
      throw new ConfigurationException("there is no handler \"" + handler + "\"; there are: " + String.join(", ", handlers.all().keySet()));
    }
    Capture.start();
    ObjectNode trigger = raw.deepCopy().put("run_id", UUID.randomUUID().toString());
    trigger.putObject("task").put("handler", handler);
    trigger.set("params", MAPPER.valueToTree(params));
    ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    try {
      List<String> lines = new ArrayList<>();
      RunLog log = new RunLog(new NatsClock(), clock, 1, batch -> {
        batch.forEach(line -> lines.add(line.get("text").asText()));
        return CompletableFuture.completedFuture(null);
      }, MAX_LOG_LINES, MAX_LOG_BYTES);
      List<Progress> progress = new CopyOnWriteArrayList<>();
      List<JsonNode> started = new CopyOnWriteArrayList<>();
      LiveRun run = new LiveRun(read(trigger), log, p -> progress.add(new Progress(p.percent(), p.text())), request -> {
        started.add(request);
        return UUID.randomUUID().toString();
      });
      run.secrets(secrets);
      Outcome o = call(run);
      log.close().join();
      return new End(o.status(), log.masked(o.message()), masked(o.result(), log), o.isFinal(), o.retryAfter(), List.copyOf(lines), progress, started);
    } finally {
      clock.shutdownNow();
    }
  }

  private static Trigger read(ObjectNode trigger) {
    try {
      return Trigger.decode(Json.bytes(trigger), null, REPLY, trigger.get("job").asText().replaceFirst("/.*", ""));
    } catch (Garbage e) {
      throw new ConfigurationException("such a run cannot be: " + e.getMessage(), e);
    }
  }

  private static JsonNode masked(JsonNode result, RunLog log) {
    try {
      return result == null ? null : Json.parse(log.masked(new String(Json.bytes(result), StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      return null; // a secret was a number
    }
  }

  private Outcome call(LiveRun run) {
    CompletableFuture<Work.End> work = new CompletableFuture<>();
    Thread worker = new Thread(() -> work.complete(did(run)), "carillon-run");
    worker.setDaemon(true);
    worker.start();
    boolean isCancelled = cancelAfter != null && (timeout == null || cancelAfter.compareTo(timeout) < 0);
    Duration limit = isCancelled ? cancelAfter : timeout;
    try {
      return limit == null ? outcome(work, Long.MAX_VALUE, run) : outcome(work, Durations.nanos(limit), run);
    } catch (TimeoutException e) {
      if (isCancelled) {
        run.end(Ending.CANCELLED, "the run was cancelled");
      } else {
        run.end(Ending.TIMED_OUT, "took longer than its timeout of " + Durations.format(timeout));
      }
      worker.interrupt();
    }
    try {
      return outcome(work, Attempt.PATIENCE, run);
    } catch (TimeoutException e) {
      return Outcome.abandoned(run, Duration.ofNanos(Attempt.PATIENCE), true);
    }
  }

  private Work.End did(LiveRun run) {
    try {
      return new Work.End(false, handlers.call(run), null);
    } catch (Throwable t) { // which may not be able to say what it is
      return new Work.End(false, null, t);
    }
  }

  private static Outcome outcome(CompletableFuture<Work.End> work, long nanos, LiveRun run) throws TimeoutException {
    try {
      Work.End end = work.get(nanos, TimeUnit.NANOSECONDS);
      return Outcome.of(run, end.result(), end.thrown(), true);
    } catch (ExecutionException e) {
      throw new IllegalStateException("BUG: a run always ends", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the test was interrupted", e);
    }
  }
}
