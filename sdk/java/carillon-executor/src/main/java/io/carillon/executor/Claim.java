package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;

/** The claim of an at_most_once attempt: whoever stores it first may start. */
final class Claim {
  private final Broker broker;
  private final String subject;
  private final ObjectNode body;

  private Claim(Broker broker, String subject, ObjectNode body) {
    this.broker = broker;
    this.subject = subject;
    this.body = body;
  }

  /** Stores the claim of an attempt; null if another instance has it. */
  static Claim of(Broker broker, Settings settings, Trigger t, int delivered) throws InterruptedException {
    String tried = Settings.random(8);
    Claim claim = new Claim(broker, "$KV.CLAIM." + settings.group() + "." + t.runId() + "-" + t.attempt() + "-" + t.index(),
        Json.object().put("instance", settings.instance()).put("delivery", delivered).put("try", tried));
    Headers headers = new Headers().put(Wire.EXPECTED, "0").put("Nats-TTL", "744h");
    boolean unanswered = false;
    while (true) {
      try {
        broker.stored(claim.subject, headers, Json.bytes(claim.body));
        return claim;
      } catch (Refused e) {
        if (e.isPresent()) {
          return unanswered && claim.storedTry().equals(tried) ? claim : null;
        }
        Thread.sleep(500); // with 10164, another claim is in flight, and may get lost
      } catch (IOException e) {
        unanswered = true; // it may have been stored all the same
        Thread.sleep(250);
      }
    }
  }

  /** The try that is stored. A replica that lags behind may not have it yet. */
  private String storedTry() throws InterruptedException {
    while (true) {
      try {
        return Json.parse(broker.request("$JS.API.DIRECT.GET.KV_CLAIM." + subject, null, new byte[0], Duration.ofSeconds(5)).getData()).path("try").asText();
      } catch (IOException e) {
        Thread.sleep(500);
      }
    }
  }

  /** Lets the claim go soon, now that the end is stored. If that fails it goes by itself, later. */
  void ended() {
    broker.store(subject, new Headers().put("Nats-TTL", "10m"), Json.bytes(body.deepCopy().put("ended", true)));
  }
}
