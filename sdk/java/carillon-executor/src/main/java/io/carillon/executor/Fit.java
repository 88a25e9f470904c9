package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Whether parameters fit a schema that {@link Schemas} has made. Jackson takes null for a field that is
 * missing, 5 for a text and "5" for a number; servers, which check jobs by the schema, do not.
 */
final class Fit {
  private Fit() {}

  /** What does not fit, and where; empty if all does. */
  static String problem(JsonNode value, JsonNode schema, String place) {
    String wrong = own(value, schema);
    if (!wrong.isEmpty()) {
      return (place.isEmpty() ? "" : place + ": ") + wrong + ", and is " + shown(value);
    }
    if (value.isArray() && schema.has("items")) {
      for (int i = 0; i < value.size(); i++) {
        String inside = problem(value.get(i), schema.get("items"), place + "[" + i + "]");
        if (!inside.isEmpty()) {
          return inside;
        }
      }
    }
    return value.isObject() ? ofFields(value, schema, place) : "";
  }

  private static String ofFields(JsonNode value, JsonNode schema, String place) {
    JsonNode properties = schema.path("properties");
    for (Map.Entry<String, JsonNode> f : value.properties()) {
      if (schema.has("additionalProperties") && !properties.has(f.getKey())) {
        return (place.isEmpty() ? "" : place + ": ") + "there is no field \"" + f.getKey() + "\"";
      }
    }
    for (JsonNode name : schema.path("required")) {
      if (!value.has(name.asText())) {
        return field(place, name.asText()) + ": is missing";
      }
    }
    for (Map.Entry<String, JsonNode> f : value.properties()) {
      String inside = properties.has(f.getKey()) ? problem(f.getValue(), properties.get(f.getKey()), field(place, f.getKey())) : "";
      if (!inside.isEmpty()) {
        return inside;
      }
    }
    return "";
  }

  /** What is wrong with a value itself; empty if nothing is. */
  private static String own(JsonNode value, JsonNode schema) {
    JsonNode type = schema.path("type");
    if (type.isTextual() && !is(value, type.asText())) {
      return "must be of type " + type.asText();
    }
    if (type.isArray() && !any(type, word -> is(value, word.asText()))) {
      return "must be of type " + words(type);
    }
    if (schema.has("enum") && !any(schema.get("enum"), value::equals)) {
      return "must be one of " + words(schema.get("enum"));
    }
    for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
      if (!keeps(value, keyword.getKey(), keyword.getValue())) {
        return "must have " + keyword.getKey() + " " + keyword.getValue().asText();
      }
    }
    return "";
  }

  private static boolean keeps(JsonNode value, String keyword, JsonNode bound) {
    if (value.isNumber()) {
      return switch (keyword) {
        case "minimum" -> compare(value, bound) >= 0;
        case "maximum" -> compare(value, bound) <= 0;
        case "exclusiveMinimum" -> compare(value, bound) > 0;
        case "exclusiveMaximum" -> compare(value, bound) < 0;
        default -> true;
      };
    }
    if (value.isTextual()) {
      int length = value.asText().codePointCount(0, value.asText().length());
      return switch (keyword) {
        case "minLength" -> length >= bound.asInt();
        case "maxLength" -> length <= bound.asInt();
        case "pattern" -> Pattern.compile(bound.asText()).matcher(value.asText()).find();
        default -> true;
      };
    }
    return switch (keyword) {
      case "minItems" -> !value.isArray() || value.size() >= bound.asInt();
      case "maxItems" -> !value.isArray() || value.size() <= bound.asInt();
      default -> true;
    };
  }

  private static int compare(JsonNode a, JsonNode b) {
    return a.decimalValue().compareTo(b.decimalValue());
  }

  private static boolean is(JsonNode value, String type) {
    return switch (type) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "boolean" -> value.isBoolean();
      case "null" -> value.isNull();
      case "number" -> value.isNumber();
      case "integer" -> value.isNumber() && isWhole(value.decimalValue());
      default -> true;
    };
  }

  private static boolean isWhole(BigDecimal number) {
    return number.signum() == 0 || number.stripTrailingZeros().scale() <= 0;
  }

  private static boolean any(JsonNode list, Predicate<JsonNode> fits) {
    return StreamSupport.stream(list.spliterator(), false).anyMatch(fits);
  }

  private static String words(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).collect(Collectors.joining(", "));
  }

  private static String field(String place, String name) {
    return place.isEmpty() ? name : place + "." + name;
  }

  private static String shown(JsonNode value) {
    String text = value.toString();
    return text.length() <= 60 ? text : text.substring(0, 59) + "…";
  }
}
