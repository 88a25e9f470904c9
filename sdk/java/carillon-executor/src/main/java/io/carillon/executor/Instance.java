package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener.Events;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One life of an executor: from its connection to its last acknowledgement. What it knows belongs to
 * the thread {@link #loop}, which looks every 100 ms at what is due.
 */
final class Instance {
  private static final Logger LOG = LoggerFactory.getLogger(Executor.class);
  private static final long LOOK = 100; // ms
  private static final long BEAT = Duration.ofSeconds(5).toNanos();
  private static final long REMEMBER_ENDED = Duration.ofHours(1).toNanos();
  private static final long REMEMBER_KILLED = Duration.ofMinutes(1).toNanos();
  private static final long KEEP_SLOT = Duration.ofSeconds(2).toNanos();
  private static final Duration HAND_OVER = Duration.ofSeconds(2);

  /** Where in its life an instance is. */
  private enum Phase { OPENING, WORKING, LEAVING, ENDING, GONE }

  final Settings settings;
  final Handlers handlers;
  final Broker broker = new Broker();
  final Spool spool;
  final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor(r -> new Thread(r, "carillon-loop"));
  /** For log lines. */
  final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(r -> daemon(r, "carillon-log"));
  /** For runs and reports. */
  final ExecutorService threads = Executors.newCachedThreadPool(r -> daemon(r, "carillon-run"));

  private final String secret = Settings.random(20);
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final Connector connector;
  private final Puller puller = new Puller(this);
  private final Requests requests;
  private final Heartbeat heartbeat;

  // Only the loop uses these.
  private Phase phase = Phase.OPENING;
  private State state = State.ONLINE;
  private Instant drainBy;
  private int slots;
  private Map<String, String> labels;
  private final Map<Trigger.Key, Attempt> live = new LinkedHashMap<>();
  private final Map<Trigger.Key, Long> done = new LinkedHashMap<>();
  private final Map<String, Long> killed = new LinkedHashMap<>();
  private final Map<Trigger.Key, Long> reserved = new LinkedHashMap<>(); // handed over; a server may offer it back
  private boolean introduced;
  private boolean introducing;
  private boolean changed;
  private long beaten = System.nanoTime();
  private long until;

  Instance(Settings settings, Handlers handlers) {
    this.settings = settings;
    this.handlers = handlers;
    this.slots = settings.slots();
    this.labels = settings.labels();
    this.spool = new Spool(settings.spool());
    this.requests = new Requests(this, secret);
    this.heartbeat = new Heartbeat(this, secret);
    this.connector = new Connector(settings, stopping, this::heard);
  }

  private static Thread daemon(Runnable work, String name) {
    Thread t = new Thread(work, name);
    t.setDaemon(true);
    return t;
  }

  // Its life

  /** Begins, and returns at once. */
  void begin() {
    loop.scheduleWithFixedDelay(this::tick, LOOK, LOOK, TimeUnit.MILLISECONDS);
    threads.execute(this::open);
  }

  /** Asks it to stop. */
  void stop() {
    stopping.countDown();
  }

  /** Completes when it is gone, or with why it cannot be. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  private void open() {
    try {
      if (connect()) {
        spool.report(broker);
        onLoop(() -> phase = Phase.WORKING);
        LOG.info("executor started: group {}, instance {}, handlers {}", settings.group(), settings.instance(), handlers.all().keySet());
        handlers.all().forEach((name, handler) -> threads.execute(() -> heartbeat.announce(name, handler)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    }
  }

  private boolean connect() throws InterruptedException {
    Connection c = connector.connect();
    if (c != null) {
      broker.use(c);
      requests.listen();
      broker.flush();
    }
    return c != null;
  }

  /** Hears what becomes of connections. */
  private void heard(Connection c, Events event) {
    if (!broker.uses(c)) {
      return;
    }
    if (event == Events.DISCONNECTED && stopping.getCount() > 0) {
      LOG.warn("disconnected from NATS");
    } else if (event == Events.RESUBSCRIBED) {
      onLoop(this::reconnected);
    } else if (event == Events.CLOSED) {
      onLoop(() -> threads.execute(this::openAgain)); // the client gives up when it is refused twice
    }
  }

  private void openAgain() {
    try {
      if (connect()) {
        onLoop(this::reconnected);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    }
  }

  private void reconnected() {
    LOG.info("connected to NATS again");
    puller.release();
    introduced = false;
  }

  /** Has the loop do something, unless the instance is gone. */
  void onLoop(Runnable act) {
    try {
      loop.execute(act);
    } catch (RejectedExecutionException e) {
      LOG.debug("too late, the executor has stopped");
    }
  }

  private void tick() {
    try {
      long now = System.nanoTime();
      List.copyOf(live.values()).forEach(a -> a.look(now));
      forget(now);
      switch (phase) {
        case OPENING -> {
          if (stopping.getCount() == 0) {
            gone(null);
          }
        }
        case WORKING -> work(now);
        case LEAVING -> {
          if (live.isEmpty() || now - until >= 0) {
            endAll(now);
          }
        }
        case ENDING -> {
          if (live.isEmpty() || now - until >= 0) {
            leave();
          }
        }
        case GONE -> { }
      }
    } catch (RuntimeException e) {
      LOG.error("BUG: the executor goes on", e);
    }
  }

  private void work(long now) {
    boolean drained = state == State.DRAINING && live.isEmpty();
    if (stopping.getCount() == 0 || drained || drainBy != null && !Instant.now().isBefore(drainBy)) {
      beginToLeave(now);
    } else if (introduced) {
      puller.look(now);
      if (changed || now - beaten >= BEAT) {
        changed = false;
        beaten = now;
        heartbeat.publish();
      }
    } else if (!introducing && broker.isConnected()) {
      introducing = true;
      threads.execute(this::introduce);
    }
  }

  private void introduce() {
    try {
      heartbeat.introduce();
      onLoop(() -> {
        introducing = false;
        introduced = true;
        beaten = System.nanoTime();
      });
    } catch (InstanceConflictException e) {
      onLoop(() -> gone(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    }
  }

  private void forget(long now) {
    done.values().removeIf(at -> now - at > REMEMBER_ENDED);
    killed.values().removeIf(at -> now - at > REMEMBER_KILLED);
    reserved.values().removeIf(at -> now - at > KEEP_SLOT);
  }

  /** Takes no more, and lets live runs end for a while. */
  private void beginToLeave(long now) {
    LOG.info("executor stopping: {} runs", live.size());
    state = State.DRAINING;
    if (introduced) {
      heartbeat.publish();
    }
    puller.release();
    flush();
    until = now + (drainBy != null ? 0 : settings.grace().toNanos());
    phase = Phase.LEAVING;
  }

  void endAll(long now) {
    List.copyOf(live.values()).forEach(a -> a.end(Ending.STOPPING, "the executor is stopping"));
    until = now + Attempt.PATIENCE + Duration.ofSeconds(5).toNanos();
    phase = Phase.ENDING;
  }

  private void leave() {
    if (introduced) {
      heartbeat.remove();
    }
    flush();
    LOG.info("executor stopped");
    gone(null);
  }

  private void gone(RuntimeException why) {
    phase = Phase.GONE;
    stop();
    threads.shutdownNow();
    clock.shutdownNow();
    try {
      broker.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nothing is left to do
    }
    loop.shutdownNow();
    if (why == null) {
      ended.complete(null);
    } else {
      ended.completeExceptionally(why);
    }
  }

  private void flush() {
    try {
      broker.flush();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody interrupts the loop before it is gone
    }
  }

  // Triggers

  State state() {
    return state;
  }

  /** How many runs may begin. */
  int free() {
    return state == State.ONLINE ? Math.max(slots - live.size() - reserved.size(), 0) : 0;
  }

  boolean hasRoomFor(Trigger t) {
    return reserved.containsKey(t.key()) || free() > 0;
  }

  /** Whether a run of the job is here. */
  boolean runs(String job) {
    return live.values().stream().anyMatch(a -> a.trigger().job().equals(job));
  }

  /** Takes a trigger that was pulled. */
  void take(Trigger t, String reply, boolean knownVersion) {
    if (isKnown(t, reply)) {
      return;
    }
    boolean ours = t.delivery().count() == 1 && knownVersion && handlers.all().containsKey(t.handler());
    if (killed.containsKey(t.runId())) {
      start(t, reply, "");
    } else if (!ours) {
      reserved.put(t.key(), System.nanoTime());
      threads.execute(() -> handOver(t.key(), reply)); // the triggers behind it do not wait
    } else if (free() < 1) {
      broker.answer(reply, Wire.giveBack(t.delivery().count()));
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
    if (done.containsKey(t.key())) {
      broker.answer(reply, "+ACK");
      return true;
    }
    return false;
  }

  /** Gives a trigger to a server, which finds out who has it. */
  private void handOver(Trigger.Key key, String reply) {
    try {
      Headers headers = new Headers().put(Wire.ACK, reply).put(Wire.INSTANCE, settings.instance());
      if (Json.parse(broker.request("hand." + settings.group(), headers, new byte[0], HAND_OVER).getData()).has("value")) {
        return;
      }
    } catch (IOException e) {
      LOG.debug("not handed over: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped; another instance gets the trigger
      return;
    }
    onLoop(() -> reserved.remove(key));
    broker.answer(reply, "-NAK {\"delay\": 5000000000}");
  }

  /** Does an attempt, unless it is killed already or too late for it. */
  void start(Trigger t, String reply, String routeReason) {
    reserved.remove(t.key());
    Attempt attempt = new Attempt(this, t, reply, routeReason);
    live.put(t.key(), attempt);
    Instant by = t.instant("start_by");
    if (killed.containsKey(t.runId())) {
      attempt.conclude("cancelled", "cancelled before it began here");
    } else if (by != null && Instant.now().isAfter(by)) {
      attempt.conclude("missed", "no instance was free to begin it by " + Wire.instant(by));
    } else {
      attempt.start();
    }
  }

  /** An attempt is over. {@code known} says that it must not be done again here. */
  void settled(Attempt attempt, boolean known) {
    live.remove(attempt.trigger().key());
    if (known) {
      done.put(attempt.trigger().key(), System.nanoTime());
    }
  }

  String eventSubject(Trigger t) {
    return "evt." + t.raw().get("shard").intValue() + "." + settings.group();
  }

  // Requests

  /** Ends a run, in any attempt and piece, also one that is still to come. */
  List<Attempt> kill(String runId, String text) {
    killed.put(runId, System.nanoTime());
    List<Attempt> found = live.values().stream().filter(a -> a.trigger().runId().equals(runId)).toList();
    found.forEach(a -> a.end(Ending.CANCELLED, text));
    return found;
  }

  /** Takes no more work, and leaves when there is none; after the time at the latest, if there is one. */
  void drain(Duration within) {
    drainBy = within == null ? null : Instant.now().plus(within);
    become(State.DRAINING);
  }

  void cordon() {
    if (state == State.ONLINE) {
      become(State.CORDONED);
    }
  }

  void uncordon() {
    drainBy = null;
    become(State.ONLINE);
  }

  private void become(State next) {
    state = next;
    if (next != State.ONLINE) {
      puller.release();
    }
    changed = true;
  }

  /** Changes what is not null. */
  void set(Integer newSlots, Map<String, String> newLabels) {
    if (newSlots != null) {
      slots = newSlots;
      puller.release();
    }
    labels = newLabels == null ? labels : newLabels;
    changed = true;
  }

  /** Whether an attempt is held, reported or none of both. */
  String custody(Trigger.Key key) {
    return live.containsKey(key) ? "held" : done.containsKey(key) ? "reported" : "none";
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
