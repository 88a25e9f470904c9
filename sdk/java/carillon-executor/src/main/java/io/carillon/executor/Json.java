package io.carillon.executor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;

/** JSON of messages. */
final class Json {
  private static final ObjectMapper MAPPER = JsonMapper.builder()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS) // which keeps each digit
      .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
      .build();

  private Json() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  static JsonNode parse(byte[] data) throws IOException {
    JsonNode node = MAPPER.readTree(data);
    if (node == null || node.isMissingNode()) {
      throw new IOException("no JSON");
    }
    return node;
  }

  static byte[] bytes(JsonNode node) {
    try {
      return MAPPER.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e); // a tree is always written
    }
  }

  /** Whether a tree has a number beyond the range of a double, which a field of that type would have as Infinity. */
  static boolean isTooLarge(JsonNode node) {
    if (node.isBigDecimal()) {
      return !Double.isFinite(node.doubleValue());
    }
    for (Iterator<JsonNode> it = node.elements(); it.hasNext(); ) {
      if (isTooLarge(it.next())) {
        return true;
      }
    }
    return false;
  }

  /** Whether a tree has NaN or Infinity, for which JSON has no form. */
  static boolean hasNoForm(JsonNode node) {
    if (node.isFloat() || node.isDouble()) {
      return !Double.isFinite(node.doubleValue());
    }
    for (Iterator<JsonNode> it = node.elements(); it.hasNext(); ) {
      if (hasNoForm(it.next())) {
        return true;
      }
    }
    return false;
  }
}
