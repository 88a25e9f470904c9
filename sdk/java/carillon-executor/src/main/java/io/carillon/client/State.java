package io.carillon.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** What a run is like. */
public final class State {
  private final JsonNode detail;
  private final ObjectMapper mapper;

  State(JsonNode detail, ObjectMapper mapper) {
    this.detail = detail;
    this.mapper = mapper;
  }

  /** The id of the run. */
  public String id() {
    return detail.path("run_id").asText();
  }

  /** The job, group/name. */
  public String job() {
    return detail.path("job").asText();
  }

  /** The status. */
  public Status status() {
    return Status.of(detail.path("status").asText());
  }

  /** Why it failed, waits or did not run; "" without a reason. */
  public String reason() {
    String message = newest().path("message").path("text").asText();
    return message.isEmpty() ? newest().path("reason").path("text").asText() : message;
  }

  /** What the handler returned; a missing node if there is nothing. */
  public JsonNode result() {
    return newest().path("result");
  }

  /**
   * What the handler returned, as a type; null if there is nothing.
   *
   * @throws IllegalArgumentException the result is not of that type
   */
  public <T> T result(Class<T> type) {
    try {
      return result().isMissingNode() ? null : mapper.treeToValue(result(), type);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the result of run " + id() + " is no " + type.getSimpleName() + ": " + e.getOriginalMessage(), e);
    }
  }

  private JsonNode newest() {
    return detail.path("attempts").path(0);
  }
}
