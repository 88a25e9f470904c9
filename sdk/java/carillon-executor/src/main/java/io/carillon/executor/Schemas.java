package io.carillon.executor;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Predicate;

/** JSON schemas of parameters, by which jobs are checked when they are saved, and of results. */
final class Schemas {
  private final ObjectMapper mapper;
  private final Function<JavaType, BeanDescription> introspect;
  private final Predicate<BeanPropertyDefinition> isUsed;
  private final boolean isClosed; // there are no other fields
  private final Set<JavaType> within = new HashSet<>(); // the types that are being described

  private Schemas(ObjectMapper mapper, Function<JavaType, BeanDescription> introspect, Predicate<BeanPropertyDefinition> isUsed, boolean isClosed) {
    this.mapper = mapper;
    this.introspect = introspect;
    this.isUsed = isUsed;
    this.isClosed = isClosed;
  }

  /** The schema of what Jackson reads as a record or bean; null for any other type. */
  static ObjectNode ofParams(JavaType type, ObjectMapper mapper) {
    if (!isObject(type)) {
      return null;
    }
    boolean isClosed = mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    return new Schemas(mapper, mapper.getDeserializationConfig()::introspect, BeanPropertyDefinition::couldDeserialize, isClosed).of(type);
  }

  /** The schema of what Jackson writes of a record or bean; null for any other type. */
  static ObjectNode ofResult(JavaType returned, ObjectMapper mapper) {
    JavaType type = awaited(returned);
    return isObject(type) ? new Schemas(mapper, mapper.getSerializationConfig()::introspect, BeanPropertyDefinition::couldSerialize, false).of(type) : null;
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

  private ObjectNode of(JavaType type) {
    BeanDescription about = introspect.apply(type);
    within.add(type);
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
    if (isClosed) {
      schema.put("additionalProperties", false);
    }
    within.remove(type);
    return schema;
  }

  private ObjectNode property(JavaType type) {
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
      ObjectNode items = property(type.getContentType());
      if (!items.isEmpty()) {
        p.set("items", items);
      }
    } else if (c.isEnum()) {
      p = words(type);
    } else if (c.isRecord() && !isReadOtherwise(c) && !within.contains(type)) {
      p = of(type);
      p.putArray("type").add("object").add("null");
    } else if (c == Double.class || c == Float.class || c == BigDecimal.class) {
      p.putArray("type").add("number").add("null");
    } else if (c == Boolean.class) {
      p.putArray("type").add("boolean").add("null");
    } else if (c == String.class) {
      p.putArray("type").add("string").add("null");
    } else if (c == Integer.class || c == Long.class || c == Short.class || c == Byte.class || c == BigInteger.class) {
      p.putArray("type").add("integer").add("null");
    }
    return p; // what is not named here may be anything: Jackson checks it when a run begins
  }

  /** Whether a record's components need not be the fields of its JSON. */
  private static boolean isReadOtherwise(Class<?> c) {
    return Arrays.stream(c.getAnnotations()).map(a -> a.annotationType().getSimpleName()).anyMatch(OTHERWISE::contains);
  }

  private static final Set<String> OTHERWISE = Set.of("JsonDeserialize", "JsonSerialize", "JsonTypeInfo", "JsonFormat", "JsonTypeResolver");

  /** The texts of an enum, or null; nothing if the mapper does not read what it writes. */
  private ObjectNode words(JavaType type) {
    ObjectNode schema = Json.object();
    ArrayNode words = schema.putArray("enum");
    try {
      for (Object constant : type.getRawClass().getEnumConstants()) {
        JsonNode word = mapper.valueToTree(constant);
        if (!word.isTextual() || mapper.convertValue(word, type) != constant) {
          return Json.object();
        }
        words.add(word);
      }
    } catch (IllegalArgumentException e) {
      return Json.object();
    }
    words.addNull();
    return schema;
  }
}
