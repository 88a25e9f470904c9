package io.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;

/** A run that a server has accepted. */
public final class Run {
  private final JsonNode accepted;
  private final Client client;

  Run(JsonNode accepted, Client client) {
    this.accepted = accepted;
    this.client = client;
  }

  /** The id. */
  public String id() {
    return accepted.path("run_id").asText();
  }

  /** The job, group/name. */
  public String job() {
    return accepted.path("job").asText();
  }

  /** The version of the job. */
  public int version() {
    return accepted.path("version").asInt();
  }

  /** The status when it was accepted or listed. */
  public Status status() {
    return Status.of(accepted.path("status").asText());
  }

  /** When it is due, if that is later; else null. */
  public Instant due() {
    JsonNode due = accepted.has("due") ? accepted.path("due") : accepted.path("fire_time");
    return due.isTextual() ? Instant.parse(due.asText()) : null;
  }

  /** Whether a request before this one made it. */
  public boolean existed() {
    return accepted.path("existed").asBoolean();
  }

  /** Why it is queued or skipped; "" without a reason. */
  public String reason() {
    return accepted.path("reason").path("text").asText();
  }

  /** Waits for the end of the run, as {@link Client#join(String, Duration)} does. */
  public State join(Duration timeout) {
    return client.join(id(), timeout);
  }

  /** Cancels the run, as {@link Client#cancel(String, String)} does. */
  public void cancel(String reason) {
    client.cancel(id(), job(), reason);
  }
}
