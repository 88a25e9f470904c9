package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;

/** One attempt, from its trigger to its acknowledgement. Its methods are called by the loop. */
final class Attempt {
  private static final Logger LOG = Log.of(io.carillon.executor.Executor.class);
  private static final long SIGN_OF_LIFE = Duration.ofSeconds(4).toNanos();
  private static final long STARTED_AFTER = Duration.ofSeconds(1).toNanos();
  private static final long PROGRESS_EVERY = Duration.ofSeconds(1).toNanos();
  private static final int MAX_BATCH = 256 << 10; // of log lines
  private static final int LEAST_LINE = 64; // what is left of a line that is cut, in bytes, at least
  /** How long a run may take to end once it is told to. */
  static final long PATIENCE = Duration.ofSeconds(10).toNanos();

  private final Instance of;
  private final Trigger trigger;
  private final String routeReason;
  private final RunLog log;
  private final AtomicReference<LiveRun.Progress> progress = new AtomicReference<>();
  private final LiveRun run;
  private final Instant came;
  private final long began = System.nanoTime();
  private volatile String reply;
  private int delivered;
  private Instant started;
  private long startedAt; // by nanoTime
  private Work work;
  private long limit = Long.MAX_VALUE; // ns from the beginning on, until the run has to end
  private String limitText;
  private long lastSign = began;
  private long lastProgress = began;
  private boolean toldStarted;
  private boolean warned;
  private long endedAt; // when it was told to end; 0 if it was not
  private String killed; // the text of a kill that came when it had to end anyhow
  private boolean over; // its end is being told

  Attempt(Instance of, Trigger trigger, String reply, String routeReason) {
    this.of = of;
    this.trigger = trigger;
    this.reply = reply;
    this.routeReason = routeReason;
    this.delivered = trigger.delivery().count();
    this.came = of.time.now();
    this.log = new RunLog(of.time, of.clock, delivered, this::sendLines, of.settings.maxLogLines(), of.settings.maxLogBytes());
    this.run = new LiveRun(trigger, log, progress::set,
        request -> of.starts.ask(of.broker, of.settings.group(), trigger.token(), reply, request));
  }

  Trigger trigger() {
    return trigger;
  }

  /** Answers a newer delivery from now on. */
  void redelivered(String by, Delivery delivery) {
    reply = by;
    delivered = Math.max(delivered, delivery.count());
  }

  /** Calls the handler, in a thread of its own. */
  void start() {
    started = of.time.now();
    startedAt = System.nanoTime();
    Duration timeout = trigger.duration("timeout");
    if (timeout != null) {
      Duration waited = Duration.ofNanos(startedAt - began); // for its turn
      limit(timeout.plus(waited), "took longer than its timeout of " + trigger.raw().get("timeout").asText());
    }
    Instant by = trigger.instant("end_by");
    if (by != null) {
      limit(Duration.between(came, by), "the run had to end by " + Wire.instant(by) + ", with all its attempts");
    }
    if (!routeReason.isEmpty()) {
      tellStarted();
    }
    work = new Work(of, trigger, delivered, run, this::returned);
    try {
      of.threads.execute(work);
    } catch (Throwable t) { // an OutOfMemoryError if there is no thread for it
      finish(Outcome.of("failed", "the run could not begin: " + t));
    }
  }

  /** Has the run end after a time, if no shorter limit is set. */
  private void limit(Duration time, String text) {
    if (Durations.nanos(time) < limit) {
      limit = Durations.nanos(time);
      limitText = text;
    }
  }

  /** Says that the attempt lives, and does what else is due. */
  void look(long now) {
    if (now - lastSign >= SIGN_OF_LIFE) {
      lastSign = now;
      of.broker.answer(reply, "+WPI");
    }
    if (over || started == null) {
      return;
    }
    if (now - began >= limit) {
      end(Ending.TIMED_OUT, limitText);
    }
    if (now - startedAt >= STARTED_AFTER && work.isOurs()) {
      tellStarted();
      tellProgress(now);
    }
    Duration warn = trigger.duration("warn_after");
    if (warn != null && !warned && now - began > Durations.nanos(warn)) {
      warned = true;
      log.system("warn", "the attempt takes longer than " + trigger.raw().get("warn_after").asText());
    }
    if (endedAt != 0 && now - endedAt > PATIENCE) {
      LOG.warn("run {} ignores that it has to end; it is left behind", trigger.runId());
      of.metrics.count(Metrics.Count.HANDLERS_ABANDONED, 1);
      finish(Outcome.abandoned(run, Duration.ofNanos(PATIENCE), work.isRepeatable()));
    }
  }

  /** Has the run end. */
  void end(Ending why, String text) {
    if (!over && endedAt == 0) {
      run.end(why, text);
      endedAt = System.nanoTime();
      if (work != null) {
        work.interrupt();
      }
    } else if (why == Ending.CANCELLED && killed == null) {
      killed = text;
    }
  }

  /** The handler has returned, or thrown. */
  private void returned(Work.End end) {
    if (over) {
      return; // it was left behind
    }
    if (end.claimedElsewhere()) {
      over = true;
      of.runs.settled(this, false);
      return;
    }
    finish(Outcome.of(run, end.result(), end.thrown(), work.isRepeatable()));
  }

  /** Ends an attempt whatever its handler did, if it was called. */
  void conclude(String status, String message) {
    finish(Outcome.of(status, message));
  }

  private void finish(Outcome outcome) {
    over = true;
    boolean stopped = outcome.status().isEmpty() || outcome.status().equals("lost");
    try {
      tellEnd(stopped && killed != null ? Outcome.of("cancelled", killed) : outcome);
    } catch (Throwable t) { // such as an OutOfMemoryError
      unreported(t);
    }
  }

  private void tellEnd(Outcome outcome) {
    if (outcome.status().isEmpty()) {
      log.system("warn", "the executor is stopping; the run is given back, to be done again elsewhere");
    } else if (!outcome.status().equals("succeeded")) {
      log.end(outcome.status(), Wire.cut(log.masked(outcome.message()), Wire.MAX_MESSAGE));
    }
    Instant finished = of.time.now();
    of.metrics.ended(trigger, outcome.status(), came, started, finished);
    ObjectNode about = about("finished");
    // The spool waits for the disk, as the loop may not.
    Executor by = of.spool.isKept() ? of.threads : Runnable::run;
    log.close().thenComposeAsync(lines -> report(about, outcome, finished, lines), by).whenComplete((stored, error) -> of.onLoop(() -> {
      if (error == null) {
        acknowledge(outcome);
      } else {
        unreported(error);
      }
    }));
  }

  /** Its end is not known. Once nobody holds it, its trigger comes again. */
  private void unreported(Throwable why) {
    LOG.warn("the end of run {} is not stored, and the run will be done again: {}", trigger.runId(), why.toString());
    of.runs.settled(this, false);
  }

  /** Tells the end, and completes when it is stored. */
  private CompletableFuture<Void> report(ObjectNode about, Outcome outcome, Instant finished, int lines) {
    return outcome.status().isEmpty() ? CompletableFuture.completedFuture(null)
        : Report.of(of, trigger, about, outcome.noting(log.note()), finished, lines, log::masked).store(headers("finished", ""));
  }

  private void acknowledge(Outcome outcome) {
    boolean done = !outcome.status().isEmpty();
    if (!done && killed != null) {
      finish(outcome);
      return;
    }
    if (done) {
      of.broker.answer(reply, "+ACK");
    } else {
      of.runs.giveBack(reply, Wire.giveBack(delivered));
    }
    of.metrics.count(Metrics.Count.LOG_LINES_DROPPED, log.lost());
    of.runs.settled(this, done);
    if (done && work != null) {
      work.endClaim();
    }
  }

  // Messages

  private void tellStarted() {
    if (!toldStarted) {
      toldStarted = true;
      ObjectNode e = about("started");
      if (!routeReason.isEmpty()) {
        e.put("route_reason", routeReason);
      }
      tell(e, headers("started", ":" + trigger.delivery().count()));
    }
  }

  private void tellProgress(long now) {
    if (now - lastProgress < PROGRESS_EVERY) {
      return;
    }
    LiveRun.Progress p = progress.getAndSet(null);
    if (p != null) {
      lastProgress = now;
      ObjectNode e = about("progress").put("percent", p.percent()).put("text", p.text());
      tell(e, headers("progress", ":" + Long.toString(of.time.now().toEpochMilli(), 36)));
    }
  }

  /** Publishes a started or progress event. If it is not stored, a later one says more. */
  private void tell(ObjectNode event, Headers headers) {
    of.broker.store(trigger.eventSubject(), headers, Json.bytes(event));
  }

  private ObjectNode about(String kind) {
    ObjectNode e = trigger.event(kind, of.settings.instance(), delivered, of.time.now());
    if (started != null) {
      e.put("delivered_at", Wire.instant(came)).put("started_at", Wire.instant(started));
    }
    return e;
  }

  private Headers headers(String kind, String tail) {
    Headers h = withToken(new Headers().put(Wire.MESSAGE, "event.v1"));
    return h.put(Wire.MSG_ID, trigger.messageId(kind) + tail + ":" + trigger.token());
  }

  private Headers withToken(Headers h) {
    return trigger.token().isEmpty() ? h : h.put(Wire.TOKEN, trigger.token());
  }

  /** Publishes lines. Those that NATS does not take as one message come in several; a line that is too long is cut. */
  private CompletableFuture<?> sendLines(ArrayNode lines) {
    ObjectNode body = Json.object().put("run_id", trigger.runId()).put("job", trigger.job()).put("attempt", trigger.attempt())
        .put("instance", of.settings.instance());
    trigger.addPiece(body);
    body.set("lines", lines);
    byte[] data = Json.bytes(body);
    long excess = data.length - Math.min(MAX_BATCH, of.broker.maxPayload());
    if (excess > 0 && lines.size() > 1) {
      ArrayNode first = JsonNodeFactory.instance.arrayNode();
      ArrayNode rest = JsonNodeFactory.instance.arrayNode();
      for (int i = 0; i < lines.size(); i++) {
        (i < lines.size() / 2 ? first : rest).add(lines.get(i));
      }
      return sendLines(first).thenCompose(stored -> sendLines(rest));
    }
    if (excess > 0) {
      String text = lines.path(0).path("text").asText();
      int size = text.getBytes(StandardCharsets.UTF_8).length;
      if (size > LEAST_LINE) {
        int most = (int) Math.max(size - excess, size / 2) - Lines.MARK.getBytes(StandardCharsets.UTF_8).length;
        ObjectNode line = lines.get(0).deepCopy();
        return sendLines(JsonNodeFactory.instance.arrayNode().add(line.put("text", Wire.cut(text, most) + Lines.MARK)));
      }
    }
    Headers headers = withToken(new Headers().put(Wire.MESSAGE, "log.v1"));
    return of.broker.store("log." + of.settings.group() + "." + trigger.runId(), headers, data);
  }
}
