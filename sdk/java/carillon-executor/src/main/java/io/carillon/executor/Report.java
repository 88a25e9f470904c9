package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** The finished event of an attempt. */
final class Report {
  private static final int SHORT_MESSAGE = 1 << 10; // how long the message may be of an end that is too large

  private final Instance of;
  private final String subject;
  private final ObjectNode event;

  private Report(Instance of, String subject, ObjectNode event) {
    this.of = of;
    this.subject = subject;
    this.event = event;
  }

  /** Makes the event. {@code about} has what all events have. */
  static Report of(Instance of, Trigger trigger, ObjectNode about, Outcome outcome, Instant finished, int lines, UnaryOperator<String> mask) {
    String at = Wire.instant(finished);
    about.put("finished_at", at).put("at", at).put("status", outcome.status());
    say(about, Wire.cut(mask.apply(outcome.message()), Wire.MAX_MESSAGE));
    if (outcome.result() != null) {
      addResult(about, mask.apply(new String(Json.bytes(outcome.result()), StandardCharsets.UTF_8)));
    }
    if (lines > 0) {
      about.put("log_lines", lines);
    }
    if (outcome.isFinal()) {
      about.put("final", true);
    } else if (trigger.again(outcome.status()) || trigger.split() && outcome.status().equals("succeeded")) {
      about.put("retry", true);
    }
    if (outcome.retryAfter() != null) {
      about.put("retry_after", Durations.format(outcome.retryAfter()));
    }
    return new Report(of, trigger.eventSubject(), about);
  }

  private static void say(ObjectNode event, String message) {
    if (!message.isEmpty()) {
      event.put("message", message);
    }
  }

  private static void addResult(ObjectNode event, String masked) {
    try {
      event.set("result", Json.parse(masked.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      say(event, "the result was left out: a secret was a part of it"); // it was a number
    }
  }

  /** Writes the event to the spool, publishes it until it is stored, and completes then. */
  CompletableFuture<Void> store(Headers headers) {
    byte[] data = Json.bytes(event);
    long most = of.broker.maxPayload();
    if (data.length > most) { // it would be refused for ever
      String why = "the run's end event has " + data.length + " bytes, but at most " + most + " fit into the max_payload"
          + " of NATS: the result was left out and the message cut; set max_payload to at least 1MB";
      String message = event.path("message").asText();
      event.remove("result");
      say(event, Wire.cut(message.isEmpty() ? why : why + "; " + message, SHORT_MESSAGE));
      data = Json.bytes(event);
    }
    Runnable stored = of.spool.keep(subject, headers, data);
    return of.broker.storeAtLast(subject, headers, data, () -> of.metrics.count(Metrics.Count.EVENT_PUBLISH_RETRIES, 1)).thenRun(stored);
  }
}
