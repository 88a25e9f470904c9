package io.carillon.executor;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.annotation.Annotation;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * What a field's annotations say of its schema. A component of a record is required, unless it is an
 * {@link Optional}, or has an annotation {@code Nullable} of any library. Annotations of Bean
 * Validation are known by their names, so that no program needs its library.
 */
final class Constraints {
  private static final List<String> NOT_NULL = List.of("NotNull", "NotBlank", "NotEmpty", "NonNull");

  private final BeanPropertyDefinition property;
  private final List<Annotation> annotations = new ArrayList<>();
  private final boolean isComponent;

  Constraints(Class<?> owner, BeanPropertyDefinition property) {
    this.property = property;
    for (AnnotatedMember m : Arrays.asList(property.getField(), property.getGetter(), property.getSetter())) {
      if (m != null && m.getAnnotated() != null) {
        annotations.addAll(Arrays.asList(m.getAnnotated().getAnnotations()));
      }
    }
    boolean found = false;
    for (RecordComponent c : owner.isRecord() ? owner.getRecordComponents() : new RecordComponent[0]) {
      if (c.getName().equals(property.getInternalName())) {
        found = true;
        annotations.addAll(Arrays.asList(c.getAnnotations()));
        annotations.addAll(Arrays.asList(c.getAnnotatedType().getAnnotations()));
      }
    }
    isComponent = found;
  }

  boolean isRequired() {
    boolean mayBeAbsent = Optional.class.isAssignableFrom(property.getPrimaryType().getRawClass()) || has("Nullable");
    return property.isRequired() || isNotNull() || (isComponent && !mayBeAbsent);
  }

  private boolean isNotNull() {
    return annotations.stream().anyMatch(a -> NOT_NULL.contains(a.annotationType().getSimpleName()));
  }

  private boolean has(String name) {
    return annotations.stream().anyMatch(a -> a.annotationType().getSimpleName().equals(name));
  }

  /** Adds bounds to a schema. A field that is required is never null. */
  ObjectNode bound(ObjectNode schema, JavaType type) {
    JsonNode types = schema.get("type");
    if (isRequired() && types != null && types.isArray()) {
      schema.put("type", types.get(0).asText());
    }
    if (isRequired() && schema.get("enum") instanceof ArrayNode words && words.get(words.size() - 1).isNull()) {
      words.remove(words.size() - 1);
    }
    boolean isList = Collection.class.isAssignableFrom(type.getRawClass());
    boolean isText = CharSequence.class.isAssignableFrom(type.getRawClass());
    String least = isList ? "minItems" : "minLength";
    String most = isList ? "maxItems" : "maxLength";
    for (Annotation a : annotations) {
      switch (a.annotationType().getSimpleName()) {
        case "Min", "DecimalMin" -> number(schema, a, "inclusive", "minimum", "exclusiveMinimum");
        case "Max", "DecimalMax" -> number(schema, a, "inclusive", "maximum", "exclusiveMaximum");
        case "Positive" -> schema.put("exclusiveMinimum", 0);
        case "PositiveOrZero" -> schema.put("minimum", 0);
        case "Negative" -> schema.put("exclusiveMaximum", 0);
        case "NegativeOrZero" -> schema.put("maximum", 0);
        case "NotEmpty" -> {
          if (isList || isText) {
            schema.put(least, 1);
          }
        }
        case "NotBlank" -> schema.put("pattern", "\\S");
        case "Pattern" -> {
          if (value(a, "regexp") instanceof String regexp) {
            schema.put("pattern", "^(?:" + regexp + ")$");
          }
        }
        case "Size" -> {
          if ((isList || isText) && value(a, "min") instanceof Integer min && min > 0) {
            schema.put(least, min);
          }
          if ((isList || isText) && value(a, "max") instanceof Integer max && max < Integer.MAX_VALUE) {
            schema.put(most, max);
          }
        }
        default -> { }
      }
    }
    return schema;
  }

  private static void number(ObjectNode schema, Annotation a, String isInclusive, String inclusive, String exclusive) {
    String keyword = Boolean.FALSE.equals(value(a, isInclusive)) ? exclusive : inclusive;
    Object bound = value(a, "value");
    if (bound instanceof Long whole && whole == whole.intValue()) {
      schema.put(keyword, whole.intValue());
    } else if (bound instanceof Long whole) {
      schema.put(keyword, whole);
    } else if (bound instanceof String text) {
      schema.put(keyword, new java.math.BigDecimal(text));
    }
  }

  /** An element of an annotation; null if it has none of that name. */
  private static Object value(Annotation a, String element) {
    try {
      return a.annotationType().getMethod(element).invoke(a);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
