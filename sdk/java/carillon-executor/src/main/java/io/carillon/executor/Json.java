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
import java.util.Map;
import java.util.function.Predicate;

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

  /** The place of a number beyond the range of a double, which a field of that type would have as Infinity; "" without one. */
  static String tooLarge(JsonNode node, String place) {
    return find(node, place, n -> n.isBigDecimal() && !Double.isFinite(n.doubleValue()));
  }

  /** The place of NaN or Infinity, for which JSON has no form; "" without one. */
  static String noForm(JsonNode node, String place) {
    return find(node, place, n -> (n.isFloat() || n.isDouble()) && !Double.isFinite(n.doubleValue()));
  }

  private static String find(JsonNode node, String place, Predicate<JsonNode> is) {
    if (is.test(node)) {
      return place;
    }
    String found = "";
    for (int i = 0; node.isArray() && found.isEmpty() && i < node.size(); i++) {
      found = find(node.get(i), place + "[" + i + "]", is);
    }
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      if (found.isEmpty()) {
        found = find(field.getValue(), place + "." + field.getKey(), is);
      }
    }
    return found;
  }
}
