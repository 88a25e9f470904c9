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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Predicate;

/** JSON schemas of parameters, by which jobs are checked when they are saved, and of results. */
final class Schemas {
  private Schemas() {}

  /** The schema of what Jackson reads as a record or bean; null for any other type. */
  static ObjectNode ofParams(JavaType type, ObjectMapper mapper) {
    if (!isObject(type)) {
      return null;
    }
    ObjectNode schema = of(mapper.getDeserializationConfig().introspect(type), BeanPropertyDefinition::couldDeserialize);
    if (mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)) {
      schema.put("additionalProperties", false);
    }
    return schema;
  }

  /** The schema of what Jackson writes of a record or bean; null for any other type. */
  static ObjectNode ofResult(JavaType returned, ObjectMapper mapper) {
    JavaType type = awaited(returned);
    return isObject(type) ? of(mapper.getSerializationConfig().introspect(type), BeanPropertyDefinition::couldSerialize) : null;
  }

  /** What a future gives; any other type is itself. */
  private static JavaType awaited(JavaType type) {
    boolean isFuture = type.isTypeOrSubTypeOf(Future.class) || type.isTypeOrSubTypeOf(CompletionStage.class);
    return isFuture ? type.containedTypeOrUnknown(0) : type;
  }

  private static boolean isObject(JavaType type) {
    Class<?> c = type.getRawClass();
    boolean other = type.isContainerType() || type.isPrimitive() || type.isEnumType() || type.isInterface();
    return !other && !c.getName().startsWith("java.") && !JsonNode.class.isAssignableFrom(c);
  }

  private static ObjectNode of(BeanDescription about, Predicate<BeanPropertyDefinition> isUsed) {
    ObjectNode schema = Json.object().put("type", "object");
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = schema.arrayNode();
    for (BeanPropertyDefinition p : about.findProperties()) {
      if (isUsed.test(p)) {
        Constraints c = new Constraints(about.getBeanClass(), p);
        properties.set(p.getName(), c.bound(property(p.getPrimaryType()), p.getPrimaryType()));
        if (c.isRequired()) {
          required.add(p.getName());
        }
      }
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
