package io.carillon.executor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Triggers for tests. */
final class Triggers {
  static final String REPLY = "$JS.ACK.TRIG.any-billing.1.17.9.1767578400000000000.0";

  private Triggers() {}

  /** A trigger of handler {@code h}, with further fields in JSON, such as {@code "attempt": 2}. */
  static ObjectNode raw(String more) {
    String text = """
        {"run_id": "019b8be1-f500-746c-9285-f6b4613a1707", "job": "billing/nightly", "version": 1, "shard": 3, "attempt": 1,
         "cause": "schedule", "fire_time": "2026-01-05T02:00:00Z", "committed_at": "2026-01-05T02:00:00.012Z", "task": {"handler": "h"}}""";
    try {
      ObjectNode raw = (ObjectNode) new ObjectMapper().readTree(text);
      raw.setAll((ObjectNode) new ObjectMapper().readTree("{" + more + "}"));
      return raw;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Trigger of(String more) throws Garbage {
    return Trigger.decode(Json.bytes(raw(more)), new Headers().put(Wire.TOKEN, "token"), REPLY, "billing");
  }
}
