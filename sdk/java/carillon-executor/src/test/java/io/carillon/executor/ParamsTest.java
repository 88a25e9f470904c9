package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases of parameters that all SDKs share. */
class ParamsTest {
  private static final Path CASES = Path.of("../../../executor/schema/testdata/params.json");

  // As in Bean Validation, which this module does not need.
  @Retention(RetentionPolicy.RUNTIME)
  @interface Min {
    long value();
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface Max {
    long value();
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface Positive {}

  @Retention(RetentionPolicy.RUNTIME)
  @interface Size {
    int min() default 0;

    int max() default Integer.MAX_VALUE;
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface Nullable {}

  enum Measure { s, l }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Item(String sku, @Nullable Integer count) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Order(@Size(min = 1, max = 8) String customer, @Min(1) @Max(9) int rows, @Nullable Long id, @Nullable @Positive Double rate,
      @Nullable Measure size, @Nullable List<Item> items) {}

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** The digits of the id in a text; empty if it has none. */
  private static String idOf(String json) {
    Matcher m = Pattern.compile("\"id\":(-?\\d+)").matcher(json);
    return m.find() ? m.group(1) : "";
  }

  @TestFactory
  Stream<DynamicTest> parametersAreReadAsByAllSdks() throws Exception {
    JsonNode cases = Json.parse(Files.readAllBytes(CASES)).get("cases");
    return StreamSupport.stream(cases.spliterator(), false).map(c -> DynamicTest.dynamicTest(c.get("name").asText(), () -> read(c)));
  }

  private static void read(JsonNode c) throws Exception {
    Order[] got = new Order[1];
    Handlers handlers = new Handlers();
    handlers.register("order", Order.class, Void.class, (run, order) -> {
      got[0] = order;
      return null;
    });
    String params = c.get("params").asText();
    HandlerTest.End end = HandlerTest.of(handlers).run("order", params.isEmpty() ? null : Json.parse(params.getBytes(StandardCharsets.UTF_8)));
    if (c.has("value")) {
      assertEquals("succeeded", end.status(), end.message());
      assertEquals(MAPPER.readValue(c.get("value").asText(), Order.class), got[0]); // which has each digit: see the cases of 64 bits
      JsonNode wrote = MAPPER.valueToTree(got[0]);
      MAPPER.readTree(c.get("value").asText()).fieldNames().forEachRemaining(f -> assertTrue(wrote.has(f), f));
      assertEquals(idOf(c.get("value").asText()), wrote.path("id").asText());
    } else {
      assertNull(got[0]);
      assertEquals("failed", end.status());
      assertTrue(end.message().contains(c.get("refused").asText()), end.message());
    }
  }
}
