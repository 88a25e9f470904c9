package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** Makes JSON of what a handler returns. */
final class Results {
  private static final int KEPT = 8 << 10;

  private Results() {}

  /**
   * A result.
   *
   * @param value null if there is none
   * @param note what is wrong with it; "" if nothing is
   */
  record Result(JsonNode value, String note) {}

  static final Result NONE = new Result(null, "");

  /**
   * The result, masked if it has to be cut: a part of a secret could stay else. What JSON cannot hold
   * is left out, for the work is done; an {@link Unfinished} says that it is not.
   */
  static Result of(Object value, ObjectMapper mapper, UnaryOperator<String> mask) {
    JsonNode node;
    try {
      node = mapper.valueToTree(value);
    } catch (IllegalArgumentException | StackOverflowError e) {
      Unfinished unfinished = Unfinished.in(e);
      if (unfinished != null) {
        throw unfinished;
      }
      if (e instanceof StackOverflowError) {
        return new Result(null, "the result was left out, because JSON cannot hold it: it refers to itself, or is too deep");
      }
      return new Result(null, "the result was left out, because JSON cannot hold it: " + e.getMessage());
    }
    if (node == null || node.isNull() || node.isMissingNode()) {
      return NONE;
    }
    String place = Json.noForm(node, "result");
    if (!place.isEmpty()) {
      return new Result(null, "the result was left out: " + place + " is NaN or Infinity, which JSON does not have; return null or a text instead");
    }
    byte[] data = Json.bytes(node);
    if (data.length > Wire.MAX_RESULT) {
      String start = Wire.cut(mask.apply(new String(data, StandardCharsets.UTF_8)), KEPT);
      JsonNode cut = Json.object().put("cut", true).put("bytes", data.length).put("start", start);
      return new Result(cut, "the result has " + data.length + " bytes, more than " + Wire.MAX_RESULT
          + ": only its beginning is kept; store it elsewhere, and return where it is");
    }
    return new Result(node, "");
  }
}
