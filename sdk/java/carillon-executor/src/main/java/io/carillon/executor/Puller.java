package io.carillon.executor;

import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the group's consumer for as many triggers as there are free slots. The loop calls it. */
final class Puller {
  private static final Logger LOG = LoggerFactory.getLogger(Executor.class);
  private static final Duration EXPIRES = Duration.ofSeconds(30);
  private static final Duration HEARTBEAT = Duration.ofSeconds(3);
  private static final long SILENCE = HEARTBEAT.multipliedBy(2).plusMillis(500).toNanos();
  private static final long PAUSE_MIN = Duration.ofMillis(250).toNanos();
  private static final long PAUSE_MAX = Duration.ofSeconds(2).toNanos();
  private static final int AT_MOST = 8; // requests at once

  private final Instance of;
  private final List<Request> requests = new ArrayList<>();
  private long pause = PAUSE_MIN;
  private long notBefore = System.nanoTime();
  private boolean refused;

  private static final class Request {
    private int left;
    private long heard = System.nanoTime();
    private Runnable forget;
  }

  Puller(Instance of) {
    this.of = of;
  }

  /** Gives up requests that have died unseen, and asks for what is free. */
  void look(long now) {
    for (Request r : List.copyOf(requests)) {
      if (now - r.heard > SILENCE) {
        close(r);
      }
    }
    int free = of.runs.free();
    for (Request r : requests) {
      free -= r.left;
    }
    if (free > 0 && requests.size() < AT_MOST && now - notBefore >= 0 && of.broker.isConnected()) {
      ask(free);
    }
  }

  private void ask(int n) {
    Request r = new Request();
    r.left = n;
    String inbox = of.broker.inbox();
    r.forget = of.broker.listen(inbox, m -> of.onLoop(() -> hear(r, m)));
    requests.add(r);
    byte[] body = Json.bytes(Json.object().put("batch", n).put("expires", EXPIRES.toNanos()).put("idle_heartbeat", HEARTBEAT.toNanos()));
    of.broker.publish("$JS.API.CONSUMER.MSG.NEXT.TRIG.any-" + of.settings.group(), inbox, null, body);
  }

  private void hear(Request r, Message m) {
    r.heard = System.nanoTime();
    int status = m.isStatusMessage() ? m.getStatus().getCode() : 0;
    switch (status) {
      case 0 -> {
        accepted();
        if (--r.left <= 0) {
          close(r);
        }
        take(m);
      }
      case 100 -> accepted();
      case 404, 408 -> {
        close(r);
        accepted();
      }
      default -> {
        close(r);
        notBefore = System.nanoTime() + pause;
        pause = Math.min(2 * pause, PAUSE_MAX);
        if (!refused) {
          LOG.info("no triggers for group {} yet ({}): waiting. Is a Carillon server at this NATS, and is the group's name right?",
              of.settings.group(), status);
        }
        refused = true;
      }
    }
  }

  private void accepted() {
    pause = PAUSE_MIN;
    if (refused) {
      LOG.info("triggers are available");
    }
    refused = false;
  }

  private void take(Message m) {
    Headers headers = m.getHeaders();
    try {
      Trigger t = Trigger.decode(m.getData(), headers, m.getReplyTo(), of.settings.group());
      String kind = Trigger.header(headers, Wire.MESSAGE);
      of.runs.take(t, m.getReplyTo(), kind.isEmpty() || kind.equals("trigger.v1"));
    } catch (Garbage e) {
      LOG.warn("a message that is no trigger: {}", e.getMessage());
      of.broker.answer(m.getReplyTo(), "+TERM");
    }
  }

  private void close(Request r) {
    if (requests.remove(r)) {
      r.forget.run();
    }
  }

  /** Gives up all requests. */
  void release() {
    List.copyOf(requests).forEach(this::close);
  }
}
