package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener.Events;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/**
 * One life of an executor: from its connection to its last acknowledgement. What it knows belongs to
 * the thread {@link #loop}, which looks every 100 ms at what is due.
 */
final class Instance {
  private static final Logger LOG = Log.of(Executor.class);
  private static final long LOOK = 100; // ms
  private static final long COMPARE_EVERY = Duration.ofSeconds(15).toNanos();
  private static final long BEAT = Duration.ofSeconds(5).toNanos();
  /** How often handlers are announced. They are forgotten after 30 days. */
  private static final long DAY = Duration.ofDays(1).toNanos();

  /** Where in its life an instance is. */
  private enum Phase { OPENING, WORKING, LEAVING, ENDING, GONE }

  final Settings settings;
  final Handlers handlers;
  final Broker broker = new Broker();
  final NatsClock time = new NatsClock();
  final Spool spool;
  final Ends ends = new Ends(this);
  Starts.Timing starts = Starts.Timing.DEFAULT;
  final Metrics metrics;
  /** Only for the loop. */
  final Runs runs;
  final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor(r -> new Thread(r, "carillon-loop"));
  /** For log lines. */
  final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(r -> daemon(r, "carillon-log"));
  /** For runs and reports. */
  final ExecutorService threads = Executors.newCachedThreadPool(r -> daemon(r, "carillon-run"));

  private final String secret = Settings.random(20);
  private final CountDownLatch stopping = new CountDownLatch(1);
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  final Connector connector;
  private final Puller puller;
  private final Requests requests;
  private final Heartbeat heartbeat;

  private long compared = System.nanoTime(); // when this machine's clock was compared with NATS'
  private final Doubling unintroduced = new Doubling();
  private volatile Doubling outage = new Doubling();
  /** That another instance has the name, which this one has found while it leaves. */
  volatile InstanceConflictException conflict;

  private volatile String trouble = "connecting to NATS"; // why it does no runs; "" if it does
  private volatile boolean hurried; // live runs are given back at once

  // Only the loop uses these.
  private Phase phase = Phase.OPENING;
  private boolean introduced; // since the last connection was made
  private boolean known; // was ever introduced
  private boolean introducing;
  private int connections; // that were made after the first
  private boolean changed;
  private long beaten = System.nanoTime();
  private long announced = beaten - DAY;
  private long until;

  Instance(Settings settings, Handlers handlers) {
    this.settings = settings;
    this.handlers = handlers;
    this.runs = new Runs(this);
    this.spool = new Spool(settings.spool());
    this.metrics = settings.metrics().make(settings.group(), settings.instance(), runs::slots, runs::running);
    this.puller = new Puller(this);
    this.requests = new Requests(this, secret);
    this.heartbeat = new Heartbeat(this, secret);
    this.connector = new Connector(settings, stopping, this::heard, this::trouble);
  }

  private static Thread daemon(Runnable work, String name) {
    Thread t = new Thread(work, name);
    t.setDaemon(true);
    return t;
  }

  // Its life

  /** Begins, and returns at once. */
  void begin() {
    loop.scheduleWithFixedDelay(() -> goOn(() -> tick(System.nanoTime())), LOOK, LOOK, TimeUnit.MILLISECONDS);
    threads.execute(this::open);
  }

  /** Asks it to stop. */
  void stop() {
    stopping.countDown();
  }

  /** Has an instance that leaves give its runs back at once. */
  void hurry() {
    hurried = true;
  }

  /** Keeps why no runs come here; "" if nothing is wrong. */
  void trouble(String what) {
    trouble = what;
  }

  /** How it is. Any thread may ask. */
  Executor.Status status() {
    return new Executor.Status(ended.isDone() ? "stopped" : runs.state().word(), trouble, runs.slots(), runs.running());
  }

  /** Completes when it is gone, or with why it cannot be. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  private void open() {
    orEnd(() -> {
      if (connect()) {
        spool.report(broker);
        onLoop(this::opened);
      }
    });
  }

  /** What connects, in a thread of its own. */
  interface Opening {
    void open() throws InterruptedException;
  }

  /** Connects, or ends the executor: without a connection it could only be silent. */
  void orEnd(Opening work) {
    try {
      work.open();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    } catch (Throwable t) {
      LOG.error("the executor ends", t);
      onLoop(() -> gone(t));
    }
  }

  /** It is connected. The loop calls it. */
  void opened() {
    phase = Phase.WORKING;
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
      trouble("disconnected from NATS");
      outage.warn("disconnected from NATS; trying to connect again");
    } else if (event == Events.RESUBSCRIBED) {
      onLoop(this::reconnected);
    } else if (event == Events.CLOSED) {
      onLoop(() -> threads.execute(this::openAgain)); // the client gives up when it is refused twice
    }
  }

  private void openAgain() {
    orEnd(() -> {
      if (connect()) {
        onLoop(this::reconnected);
      }
    });
  }

  /** There is a connection again. The loop calls it. */
  void reconnected() {
    LOG.info("connected to NATS again");
    outage = new Doubling();
    puller.release();
    introduced = false;
    changed = true;
    connections++;
  }

  /** Has the loop do something, unless the instance is gone. */
  void onLoop(Runnable act) {
    try {
      loop.execute(() -> goOn(act));
    } catch (RejectedExecutionException e) {
      LOG.debug("too late, the executor has stopped");
    }
  }

  /** Does a part of the loop. It goes on whatever that throws; an Error would end it without a word. */
  private static void goOn(Runnable act) {
    try {
      act.run();
    } catch (Throwable t) {
      try {
        LOG.error("BUG: the executor goes on", t);
      } catch (Throwable again) {
        // there is no memory to say so
      }
    }
  }

  /** Does what is due. The loop calls it. */
  void tick(long now) {
    goOn(() -> runs.look(now));
    switch (phase) {
      case OPENING -> {
        if (stopping.getCount() == 0) {
          gone(null);
        }
      }
      case WORKING -> work(now);
      case LEAVING -> {
        show(now); // while runs go on: servers forget an instance that is silent
        if (isIdle() || now - until >= 0 || hurried) {
          if (hurried && !isIdle()) {
            LOG.warn("stopped again: {} runs are cancelled and given back", runs.count());
          }
          endAll(now);
        }
      }
      case ENDING -> {
        show(now);
        if (isIdle() || now - until >= 0) {
          leave();
        }
      }
      case GONE -> { }
    }
  }

  private void work(long now) {
    if (stopping.getCount() == 0 || runs.isDrained()) {
      beginToLeave(now);
    } else if (introduced) {
      puller.look(now);
      if (now - announced >= DAY) {
        announced = now;
        handlers.all().forEach((name, handler) -> threads.execute(() -> heartbeat.announce(name, handler)));
      }
      beatIfDue(now);
    } else {
      introduceAgain();
    }
  }

  private void introduceAgain() {
    if (!introducing && conflict == null && broker.isConnected()) {
      int connection = connections;
      threads.execute(() -> introduce(connection));
      introducing = true; // unless there was no thread for it
    }
  }

  /** Has others see an instance that leaves. What is stored under its name before it is introduced may be another's. */
  private void show(long now) {
    if (known && !introduced) {
      introduceAgain();
    }
    beatIfDue(now);
  }

  /** Whether there are no runs, and none may come. */
  private boolean isIdle() {
    return runs.count() == 0 && puller.isQuiet();
  }

  private void beatIfDue(long now) {
    if (introduced && (changed || now - beaten >= BEAT)) {
      changed = false;
      beaten = now;
      if (now - compared >= COMPARE_EVERY) {
        compared = now;
        threads.execute(this::compareClocks);
      } else {
        heartbeat.publish();
      }
    }
  }

  private void compareClocks() {
    try {
      heartbeat.compareClocks();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    }
  }

  /** Has triggers come from these consumers. The loop calls it. */
  void pullFrom(List<Puller.Name> consumers) {
    LOG.info("pulling from other consumers: {}", consumers);
    puller.pullFrom(consumers);
  }

  /** Servers have refused a message of this instance. The loop calls it. */
  void refusedBy(ObjectNode refusal) {
    LOG.error("servers have refused a message of this executor: {}", refusal);
    metrics.count(Metrics.Count.MESSAGES_REFUSED, 1);
    heartbeat.refusedBy(refusal);
    changed = true;
  }

  /** A run has ended. */
  void slotFree() {
    if (phase == Phase.WORKING && introduced) {
      puller.slotFree(System.nanoTime());
    }
  }

  /** The next look tells others how the instance is; pull requests for other numbers are given up. */
  void changed(boolean giveUpPulls) {
    changed = true;
    if (giveUpPulls) {
      puller.release();
    }
  }

  /** Its heartbeat is stored. The loop calls it. */
  void online() {
    introduced = true;
    if (!known) {
      LOG.info("executor started: group {}, instance {}, {} slots, handlers {}", settings.group(), settings.instance(), runs.slots(),
          String.join(", ", handlers.all().keySet()));
    }
    known = true;
    trouble("");
    beaten = System.nanoTime();
  }

  private void introduce(int connection) {
    try {
      heartbeat.introduce();
      heartbeat.compareClocks();
      onLoop(() -> {
        if (connection == connections) {
          online();
        }
      });
    } catch (InstanceConflictException e) {
      onLoop(() -> conflicts(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // it was stopped
    } catch (Throwable t) {
      unintroduced.warn("BUG: the heartbeat is not made; trying again", t);
    } finally {
      onLoop(() -> introducing = false);
    }
  }

  /** Ends the instance; one that leaves lets its runs end first. */
  private void conflicts(InstanceConflictException e) {
    if (phase == Phase.WORKING) {
      gone(e);
    } else {
      conflict = e;
    }
  }

  /** Takes no more, and lets live runs end for a while. */
  private void beginToLeave(long now) {
    LOG.info("executor stopping: {} runs{}", runs.count(), runs.count() > 0 ? "; a second signal gives them back at once" : "");
    until = now + runs.within(settings.grace()).toNanos();
    runs.close();
    changed = true;
    beatIfDue(now);
    puller.release();
    phase = Phase.LEAVING;
  }

  private void endAll(long now) {
    runs.endAll();
    until = now + Attempt.PATIENCE + Duration.ofSeconds(5).toNanos();
    phase = Phase.ENDING;
  }

  private void leave() {
    if (introduced) {
      heartbeat.remove();
    }
    flush();
    LOG.info("executor stopped");
    gone(conflict);
  }

  private void gone(Throwable why) {
    trouble(why == null ? "the executor has stopped" : String.valueOf(why.getMessage()));
    phase = Phase.GONE;
    stop();
    try {
      metrics.close();
      threads.shutdownNow();
      clock.shutdownNow();
      broker.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nothing is left to do
    } finally {
      loop.shutdownNow();
      if (why == null) {
        ended.complete(null);
      } else {
        ended.completeExceptionally(why);
      }
    }
  }

  private void flush() {
    try {
      broker.flush();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody interrupts the loop before it is gone
    }
  }
}
