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
  private final Trigger trigger;
  private final ObjectNode event;

  private Report(Instance of, Trigger trigger, ObjectNode event) {
    this.of = of;
    this.trigger = trigger;
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
    return new Report(of, trigger, about);
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
    String subject = trigger.eventSubject();
    Runnable stored = of.spool.keep(subject, headers, fitted(event, of.broker.maxPayload()));
    return of.ends.store(trigger.report(), subject, headers, event).thenRun(stored);
  }

  /** The end of a run in JSON. One that NATS does not take would be refused for ever, so it is made shorter. */
  static byte[] fitted(ObjectNode end, long most) {
    byte[] data = Json.bytes(end);
    if (data.length <= most) {
      return data;
    }
    String why = "the run's end event has " + data.length + " bytes, but at most " + most + " fit into the max_payload"
        + " of NATS: the result was left out and the message cut; set max_payload to at least 1MB";
    String message = end.path("message").asText();
    ObjectNode shorter = end.deepCopy();
    shorter.remove("result");
    say(shorter, Wire.cut(message.isEmpty() ? why : why + "; " + message, SHORT_MESSAGE));
    return Json.bytes(shorter);
  }
}
