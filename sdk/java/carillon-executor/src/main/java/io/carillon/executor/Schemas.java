package io.carillon.executor;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;

/** JSON schemas of parameters, by which jobs are checked when they are saved. */
final class Schemas {
  private Schemas() {}

  /** The schema of a record or bean whose fields Jackson reads; null of anything else. */
  static ObjectNode of(JavaType type, ObjectMapper mapper) {
    Class<?> c = type.getRawClass();
    if (type.isContainerType() || type.isPrimitive() || type.isEnumType() || type.isInterface() || c.getName().startsWith("java.")
        || JsonNode.class.isAssignableFrom(c)) {
      return null;
    }
    BeanDescription about = mapper.getDeserializationConfig().introspect(type);
    ObjectNode schema = Json.object().put("type", "object");
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = schema.arrayNode();
    for (BeanPropertyDefinition p : about.findProperties()) {
      if (p.couldDeserialize()) {
        properties.set(p.getName(), property(p.getPrimaryType()));
        if (p.isRequired()) {
          required.add(p.getName());
        }
      }
    }
    if (mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)) {
      schema.put("additionalProperties", false);
    }
    if (!required.isEmpty()) {
      schema.set("required", required);
    }
    return schema;
  }

  private static ObjectNode property(JavaType type) {
    Class<?> c = type.getRawClass();
    ObjectNode p = Json.object();
    if (c == boolean.class) {
      p.put("type", "boolean");
    } else if (c == int.class || c == long.class || c == short.class || c == byte.class) {
      p.put("type", "integer");
    } else if (c == double.class || c == float.class) {
      p.put("type", "number");
    } else if (Collection.class.isAssignableFrom(c)) {
      p.putArray("type").add("array").add("null");
    } else if (c == String.class) {
      p.putArray("type").add("string").add("null");
    } else if (c == Integer.class || c == Long.class) {
      p.putArray("type").add("integer").add("null");
    }
    return p; // what is not named here may be anything: Jackson checks it when a run begins
  }
}
