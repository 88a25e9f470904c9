package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SchemasTest {
  // As in Bean Validation, which this module does not need.
  @Retention(RetentionPolicy.RUNTIME)
  @interface Min {
    long value();
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface Size {
    int min() default 0;

    int max() default Integer.MAX_VALUE;
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface NotBlank {}

  @Retention(RetentionPolicy.RUNTIME)
  @interface Nullable {}

  record Order(String customer, @Min(1) int rows, @Size(min = 1, max = 9) List<String> items, Optional<String> code, @Nullable String note) {}

  static class Bean {
    @NotBlank public String name;
    public String note;
  }

  @Test
  void componentsOfRecordsAreRequiredUnlessTheyMayBeNull() throws Exception {
    assertEquals(Json.parse("""
        {"type": "object", "additionalProperties": false, "required": ["customer", "rows", "items"], "properties": {
          "customer": {"type": "string"}, "rows": {"type": "integer", "minimum": 1},
          "items": {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1, "maxItems": 9}, "code": {}, "note": {"type": ["string", "null"]}}}
        """.getBytes()), of(Order.class));
  }

  @Test
  void fieldsOfBeansAreRequiredIfValidationSaysSo() throws Exception {
    assertEquals(Json.parse("""
        {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
          "name": {"type": "string", "pattern": "\\\\S"}, "note": {"type": ["string", "null"]}}}
        """.getBytes()), of(Bean.class));
  }

  private static Object of(Class<?> type) {
    ObjectMapper mapper = new ObjectMapper();
    return Schemas.ofParams(mapper.constructType(type), mapper);
  }
}
