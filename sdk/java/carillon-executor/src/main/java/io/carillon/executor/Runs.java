package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/** The runs of an instance, those that it had, and whether it takes more. Only the loop uses it. */
final class Runs {
  private static final Logger LOG = Log.of(Executor.class);
  private static final Duration HAND_OVER = Duration.ofSeconds(2);

  private final Instance of;
  private final Map<Trigger.Key, Attempt> live = new LinkedHashMap<>();
  private final Recent<Trigger.Key> done = new Recent<>(Duration.ofHours(1));
  private final Recent<String> killed = new Recent<>(Duration.ofMinutes(1));
  private final Recent<String> reserved = new Recent<>(Duration.ofSeconds(2)); // by reply subject: handed over; a server may offer it back
  private Trigger.Key aloneKey; // of the attempt beside which none may begin, until an instant of nanoTime
  private long aloneUntil;
  private volatile State state = State.ONLINE; // others may ask
  private boolean closed;
  private Instant drainBy;
  private volatile int slots; // metrics read these two
  private volatile int running;
  private Map<String, String> labels;

  Runs(Instance of) {
    this.of = of;
    this.slots = of.settings.slots();
    this.labels = of.settings.labels();
  }

  /** Looks at what is due. */
  void look(long now) {
    List.copyOf(live.values()).forEach(a -> a.look(now));
  }

  int count() {
    return live.size();
  }

  /** How many runs there may be at once. Any thread may ask. */
  int slots() {
    return slots;
  }

  /** How many runs there are. Any thread may ask. */
  int running() {
    return running;
  }

  /** Whether somebody drains the instance, and it has no runs any more, or no time. */
  boolean isDrained() {
    return state == State.DRAINING && (live.isEmpty() || isOverdue());
  }

  /** Whether the time is over that somebody gave the instance to drain. */
  private boolean isOverdue() {
    return drainBy != null && !of.time.now().isBefore(drainBy);
  }

  /** As much of a time as is left until the instance has to be drained. */
  Duration within(Duration time) {
    Duration left = drainBy == null ? time : Duration.between(of.time.now(), drainBy);
    return left.isNegative() ? Duration.ZERO : left.compareTo(time) < 0 ? left : time;
  }

  /** Takes no more, since the instance leaves. */
  void close() {
    closed = true;
    state = State.DRAINING;
  }

  /** Has all runs end. */
  void endAll() {
    List.copyOf(live.values()).forEach(a -> a.end(Ending.STOPPING, "the executor is stopping"));
  }

  State state() {
    return state;
  }

  /** How many runs may begin. */
  int free() {
    return state == State.ONLINE && !isAlone() ? Math.max(slots - live.size() - reserved.size(), 0) : 0;
  }

  /** Whether a trigger that is offered can begin, and for how many seconds beside no other: 0 is beside any. */
  boolean hasRoomFor(Trigger t, String reply, int alone) {
    return (reserved.contains(reply) || free() > 0) && !isFull(t.handler()) && !isAlone() && (alone == 0 || live.isEmpty());
  }

  /** Lets no other run begin beside that of a trigger for so many seconds: an executor died that had it. */
  void leaveAlone(Trigger t, int seconds) {
    aloneKey = t.key();
    aloneUntil = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
  }

  private boolean isAlone() {
    return aloneKey != null && live.containsKey(aloneKey) && System.nanoTime() - aloneUntil < 0;
  }

  /** Whether as many runs of a handler are here as it may have. */
  private boolean isFull(String handler) {
    int most = of.handlers.all().get(handler).slots();
    return live.size() >= most && live.values().stream().filter(a -> a.trigger().handler().equals(handler)).count() >= most;
  }

  /** Whether a run of the job is here. */
  boolean runs(String job) {
    return live.values().stream().anyMatch(a -> a.trigger().job().equals(job));
  }

  /** Takes a trigger that was pulled. */
  void take(Trigger t, String reply) {
    if (isKnown(t, reply)) {
      return;
    }
    boolean ours = t.delivery().count() == 1 && of.handlers.all().containsKey(t.handler()) && !isFull(t.handler());
    if (killed.contains(t.runId())) {
      start(t, reply, "");
    } else if (!ours) {
      handOver(reply);
    } else if (free() < 1) {
      giveBack(reply, Wire.giveBack(t.delivery().count()));
    } else {
      start(t, reply, "");
    }
  }

  /** Whether the attempt is here, or has ended here. If so, it answers the newer delivery. */
  boolean isKnown(Trigger t, String reply) {
    Attempt attempt = live.get(t.key());
    if (attempt != null) {
      attempt.redelivered(reply, t.delivery());
      return true;
    }
    if (done.contains(t.key())) {
      of.broker.answer(reply, "+ACK");
      return true;
    }
    return false;
  }

  /** Gives a trigger back to the group, by an answer that does so. Any thread may. */
  void giveBack(String reply, String answer) {
    of.metrics.count(Metrics.Count.RUNS_GIVEN_BACK, 1);
    of.broker.answer(reply, answer);
  }

  /** Gives a trigger to a server, which finds out who has it, or who can do it. */
  void handOver(String reply) {
    reserved.add(reply);
    of.threads.execute(() -> askToTake(reply)); // the triggers behind it do not wait
  }

  private void askToTake(String reply) {
    try {
      Headers headers = new Headers().put(Wire.ACK, reply).put(Wire.INSTANCE, of.settings.instance());
      if (Json.parse(of.broker.request("hand." + of.settings.group(), headers, new byte[0], HAND_OVER).getData()).has("value")) {
        of.metrics.count(Metrics.Count.TRIGGERS_HANDED_OVER, 1);
        return;
      }
    } catch (IOException e) {
      LOG.debug("not handed over: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped; another instance gets the trigger
      return;
    }
    of.onLoop(() -> reserved.remove(reply));
    giveBack(reply, "-NAK {\"delay\": 5000000000}");
  }

  /** Does an attempt, unless it is killed already or too late for it. */
  void start(Trigger t, String reply, String routeReason) {
    reserved.remove(reply);
    Attempt attempt = new Attempt(of, t, reply, routeReason);
    live.put(t.key(), attempt);
    running = live.size();
    Instant by = t.instant("start_by");
    Instant endBy = t.instant("end_by");
    if (killed.contains(t.runId())) {
      attempt.conclude("cancelled", "cancelled before it began here");
    } else if (by != null && of.time.now().isAfter(by)) {
      attempt.conclude("missed", "no instance was free to begin it by " + Wire.instant(by));
    } else if (endBy != null && of.time.now().isAfter(endBy)) {
      attempt.conclude("timed_out", "the run had to end by " + Wire.instant(endBy) + ", with all its attempts");
    } else {
      attempt.start();
    }
  }

  /** An attempt is over. {@code known} says that it must not be done again here. */
  void settled(Attempt attempt, boolean known) {
    live.remove(attempt.trigger().key());
    running = live.size();
    if (known) {
      done.add(attempt.trigger().key());
    }
    of.slotFree();
  }

  // What requests ask for

  /** Ends a run, in any attempt and piece, also one that is still to come. */
  List<Attempt> kill(String runId, String text) {
    killed.add(runId);
    List<Attempt> found = live.values().stream().filter(a -> a.trigger().runId().equals(runId)).toList();
    found.forEach(a -> a.end(Ending.CANCELLED, text));
    return found;
  }

  /** Takes no more work, and leaves when there is none; after the time at the latest, if there is one. One that leaves has its own limit. */
  void drain(Duration within) {
    if (!closed) {
      drainBy = within == null ? null : of.time.now().plus(within);
      become(State.DRAINING);
    }
  }

  void cordon() {
    if (state == State.ONLINE) {
      become(State.CORDONED);
    }
  }

  /** Takes work again. False if the instance leaves. */
  boolean uncordon() {
    if (!closed) {
      drainBy = null;
      become(State.ONLINE);
    }
    return !closed;
  }

  private void become(State next) {
    state = next;
    of.changed(next != State.ONLINE);
  }

  /** Changes what is not null. */
  void set(Integer newSlots, Map<String, String> newLabels) {
    if (newSlots != null) {
      slots = newSlots;
    }
    labels = newLabels == null ? labels : newLabels;
    of.changed(newSlots != null);
  }

  /** Whether an attempt is held, reported or none of both. */
  String custody(Trigger.Key key) {
    return live.containsKey(key) ? "held" : done.contains(key) ? "reported" : "none";
  }

  /** Adds to an answer how the instance is. */
  void describe(ObjectNode value) {
    value.put("state", state.word()).put("running", live.size()).put("slots", slots);
    if (drainBy != null) {
      value.put("drain_by", Wire.instant(drainBy));
    }
  }

  /** Adds the labels to a heartbeat. */
  void describeLabels(ObjectNode beat) {
    ObjectNode all = beat.putObject("labels");
    labels.forEach(all::put);
    if (labels.containsKey("zone")) {
      beat.put("zone", labels.get("zone"));
    }
  }
}
