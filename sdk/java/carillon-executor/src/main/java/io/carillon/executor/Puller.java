package io.carillon.executor;

import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;

/**
 * Asks the group's consumers for as many triggers as there are free slots: each consumer without a
 * request for one, and the one that brought the last trigger for all that the others leave. The
 * loop calls it.
 */
final class Puller {
  private static final Logger LOG = Log.of(Executor.class);
  private static final Duration EXPIRES = Duration.ofSeconds(30);
  private static final Duration HEARTBEAT = Duration.ofSeconds(3);
  private static final Duration TURN = Duration.ofSeconds(1); // while several consumers share the slots
  private static final long SILENCE = HEARTBEAT.multipliedBy(2).plusMillis(500).toNanos();
  private static final long PAUSE_MIN = Duration.ofMillis(250).toNanos();
  private static final long PAUSE_MAX = Duration.ofSeconds(2).toNanos();
  private static final int AT_MOST = 8; // requests to a consumer at once

  private final Instance of;
  private List<Consumer> consumers = List.of();
  private Consumer busiest;
  private Broker.Inboxes inboxes; // of the requests that are not given up
  private int draining; // how often requests were given up that may still bring something

  /** A durable consumer of a stream of triggers. */
  record Name(String stream, String consumer) {}

  private static final class Request {
    private final Consumer of;
    private int left;
    private long heard = System.nanoTime();
    private Runnable forget;

    Request(Consumer of, int left) {
      this.of = of;
      this.left = left;
    }
  }

  private final class Consumer {
    private final Name name;
    private final List<Request> requests = new ArrayList<>();
    private long asked = Long.MIN_VALUE; // when the last request was made
    private long pause = PAUSE_MIN;
    private long notBefore = System.nanoTime();
    private boolean refused;

    Consumer(Name name) {
      this.name = name;
    }

    /** How many triggers its requests may still bring. */
    int ordered() {
      return requests.stream().mapToInt(r -> r.left).sum();
    }

    void accepted() {
      pause = PAUSE_MIN;
      if (refused) {
        LOG.info("triggers are available");
      }
      refused = false;
    }

    void refuse(int status) {
      notBefore = System.nanoTime() + pause;
      pause = Math.min(2 * pause, PAUSE_MAX);
      if (!refused) {
        LOG.info("no triggers for group {} yet (consumer {} of {}, {}): waiting. Is a Carillon server at this NATS, and is the group's name right?",
            Puller.this.of.settings.group(), name.consumer(), name.stream(), status);
      }
      refused = true;
    }
  }

  Puller(Instance of) {
    this.of = of;
    pullFrom(List.of(new Name("TRIG", "any-" + of.settings.group())));
  }

  /** Replaces the list of consumers. */
  void pullFrom(List<Name> names) {
    release();
    consumers = names.stream().map(Consumer::new).toList();
    busiest = consumers.get(0);
  }

  /** Asks for what is free, unless it is little and more is on order: look does that soon. */
  void slotFree(long now) {
    int ordered = ordered();
    if (of.runs.free() - ordered >= Math.max(ordered, 1)) {
      look(now);
    }
  }

  private int ordered() {
    return consumers.stream().mapToInt(Consumer::ordered).sum();
  }

  /** Gives up requests that have died unseen, or whose slots other runs have taken, and asks for what is free. */
  void look(long now) {
    if (ordered() > of.runs.free() || consumers.stream().flatMap(c -> c.requests.stream()).anyMatch(r -> now - r.heard > SILENCE)) {
      release();
    }
    int free = of.runs.free() - ordered();
    if (free <= 0 || !isQuiet() || !of.broker.isConnected()) {
      return;
    }
    if (consumers.size() > 1) {
      List<Consumer> idle = consumers.stream().filter(c -> c.requests.isEmpty() && now - c.notBefore >= 0)
          .sorted(Comparator.comparingLong(c -> c.asked)).limit(free).toList();
      idle.forEach(c -> ask(c, 1));
      free -= idle.size();
    }
    if (free > 0 && busiest.requests.size() < AT_MOST && now - busiest.notBefore >= 0) {
      ask(busiest, free);
    }
  }

  private void ask(Consumer c, int n) {
    Request r = new Request(c, n);
    String inbox = of.broker.inbox();
    if (inboxes == null || !of.broker.uses(inboxes.connection())) {
      inboxes = of.broker.inboxes();
    }
    r.forget = inboxes.listen(inbox, m -> of.onLoop(() -> hear(r, m)));
    c.requests.add(r);
    c.asked = r.heard;
    Duration expires = consumers.size() == 1 ? EXPIRES : TURN;
    Duration heartbeat = consumers.size() == 1 ? HEARTBEAT : TURN.dividedBy(2);
    byte[] body = Json.bytes(Json.object().put("batch", n).put("expires", expires.toNanos()).put("idle_heartbeat", heartbeat.toNanos()));
    of.broker.publish("$JS.API.CONSUMER.MSG.NEXT." + c.name.stream() + "." + c.name.consumer(), inbox, null, body);
  }

  private void hear(Request r, Message m) {
    r.heard = System.nanoTime();
    int status = m.isStatusMessage() ? m.getStatus().getCode() : 0;
    if (status != 0 && !r.of.requests.contains(r)) {
      return; // the last word of a request that was given up
    }
    switch (status) {
      case 0 -> {
        r.of.accepted();
        if (--r.left <= 0) {
          close(r);
        }
        if (consumers.contains(r.of)) {
          busiest = r.of;
        }
        take(m);
      }
      case 100 -> r.of.accepted();
      case 404, 408 -> {
        close(r);
        r.of.accepted();
      }
      default -> {
        close(r);
        r.of.refuse(status);
      }
    }
  }

  /** Takes what a consumer has brought. */
  void take(Message m) {
    Headers headers = m.getHeaders();
    String kind = Trigger.header(headers, Wire.MESSAGE);
    if (!kind.isEmpty() && !kind.equals(Wire.TRIGGER)) {
      of.runs.handOver(m.getReplyTo()); // a newer instance may know this version
      return;
    }
    try {
      of.runs.take(Trigger.decode(m.getData(), headers, m.getReplyTo(), of.settings.group()), m.getReplyTo());
    } catch (Garbage e) {
      LOG.warn("a message that is no trigger: {}", e.getMessage());
      of.metrics.count(Metrics.Count.TRIGGERS_REJECTED, 1);
      of.broker.answer(m.getReplyTo(), "+TERM");
    }
  }

  /** Ends a request that NATS has ended. */
  private void close(Request r) {
    if (r.of.requests.remove(r)) {
      r.forget.run();
    }
  }

  /** Gives up all requests. What they have brought by the time that NATS hears of it still comes. */
  void release() {
    consumers.forEach(c -> c.requests.clear());
    Broker.Inboxes old = inboxes;
    if (old != null) {
      inboxes = null;
      of.threads.execute(() -> drain(old));
      draining++;
    }
  }

  private void drain(Broker.Inboxes old) {
    try {
      old.drain();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the executor has stopped
    } finally {
      of.onLoop(() -> draining--); // after what was heard
    }
  }

  /** Whether no request that was given up may still bring something. Before, another one would ask for the same slots. */
  boolean isQuiet() {
    return draining == 0;
  }
}
