package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;

/** JetStream has refused a message. */
final class Refused extends IOException {
  private final int code;

  Refused(JsonNode error) {
    super(error.path("description").asText("refused"));
    code = error.path("err_code").asInt();
  }

  /** Whether there is a message already where none was expected. */
  boolean isPresent() {
    return code == Wire.WRONG_LAST_SEQUENCE;
  }
}
