package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

class HandlersTest {
  record Report(@JsonProperty(required = true) String region, int rows) {}

  private static Handlers handlers() {
    Handlers h = new Handlers();
    h.register("report", Report.class, Map.class, (run, p) -> {
      run.log().info("begun {}", p.region());
      LoggerFactory.getLogger("customers").warn("slow");
      run.progress(50, "half of " + run.secret("TOKEN"));
      return Map.of("written", p.rows(), "attempt", run.attempt());
    }).description("Writes the report of a region");
    h.register("broken", String.class, Void.class, (run, what) -> {
      switch (what) {
        case "final" -> throw new FinalException("no such customer");
        case "later" -> throw new RetryAfterException(Duration.ofSeconds(90), "busy");
        case "error" -> throw new StackOverflowError();
        default -> throw new IllegalStateException();
      }
    });
    h.register("nan", Void.class, Map.class, (run, nothing) -> Map.of("rows", List.of(Map.of("ratio", 1.0), Map.of("ratio", Double.NaN))));
    h.register("odd", Void.class, Object.class, (run, nothing) -> new Object());
    h.register("large", Void.class, String.class, (run, nothing) -> "x".repeat(100_000));
    h.register("slow", Void.class, Void.class, (run, nothing) -> {
      Thread.sleep(30_000);
      return null;
    });
    return h;
  }

  @Test
  void aHandlerIsTestedWithoutABroker() {
    var end = HandlerTest.of(handlers()).attempt(2).secret("TOKEN", "s3cret-value").run("report", Map.of("region", "north", "rows", 3));
    assertEquals("succeeded", end.status());
    assertEquals(Map.of("written", 3, "attempt", 2), end.resultAs(Map.class));
    assertEquals(List.of("begun north", "slow"), end.lines());
    assertEquals(List.of(new HandlerTest.Progress(50, "half of ***")), end.progress());
  }

  @Test
  void numbersOfParametersAreNeverChangedInSilence() throws Exception {
    String text = "{\"big\":1234567890123456789,\"odd\":9007199254740993,\"decimals\":0.1000,\"huge\":123456789012345678901234567890}";
    assertEquals(text, new String(Json.bytes(Json.parse(text.getBytes(StandardCharsets.UTF_8))), StandardCharsets.UTF_8));
    Handlers h = new Handlers();
    h.register("echo", Void.class, JsonNode.class, (run, nothing) -> run.params());
    h.register("ratio", Ratio.class, Ratio.class, (run, p) -> p);
    assertEquals(text, HandlerTest.of(h).run("echo", Json.parse(text.getBytes(StandardCharsets.UTF_8))).resultAs(JsonNode.class).toString());
    var end = HandlerTest.of(h).run("ratio", Json.parse("{\"ratio\":1e400}".getBytes(StandardCharsets.UTF_8)));
    assertEquals("failed", end.status());
    assertTrue(end.message().contains("params.ratio of handler ratio is a number that is too large for a double"), end.message());
  }

  record Ratio(double ratio) {}

  @ParameterizedTest
  @CsvSource({"final,true,", "later,false,PT1M30S", "x,false,", "error,false,"})
  void anErrorSaysWhatShallBecomeOfTheRun(String what, boolean isFinal, Duration after) {
    var end = HandlerTest.of(handlers()).run("broken", what);
    assertEquals("failed", end.status());
    assertEquals(isFinal, end.isFinal());
    assertEquals(after, end.retryAfter());
    assertTrue(!end.message().isBlank());
  }

  @ParameterizedTest
  @CsvSource({"nan,result.rows[1].ratio is NaN", "odd,cannot hold"})
  void aResultThatJsonCannotHoldIsLeftOutWithANote(String handler, String said) {
    var end = HandlerTest.of(handlers()).run(handler, null);
    assertEquals("succeeded", end.status());
    assertNull(end.result());
    assertTrue(end.message().contains("left out") && end.message().contains(said), end.message());
  }

  @Test
  void aResultAboveTheLimitIsCutWithANote() {
    var end = HandlerTest.of(handlers()).run("large", null);
    assertEquals(100_002, end.result().get("bytes").asInt());
    assertTrue(end.message().contains("65536"), end.message());
  }

  @Test
  void aTimeoutInterruptsTheHandler() {
    var end = HandlerTest.of(handlers()).timeout(Duration.ofMillis(50)).run("slow", null);
    assertEquals("timed_out", end.status());
    assertTrue(end.message().contains("50ms"));
  }

  private static HandlerTest.End doing(Handler<Void, Object> handler, UnaryOperator<HandlerTest> how) {
    Handlers h = new Handlers();
    h.register("h", Void.class, Object.class, handler);
    return how.apply(HandlerTest.of(h)).run("h", null);
  }

  @Test
  void aHandlerThatHasToEndIsToldWhy() {
    List<Ending> seen = new CopyOnWriteArrayList<>();
    Handler<Void, Object> handler = (run, nothing) -> {
      try {
        Thread.sleep(60_000);
      } finally {
        seen.add(run.ending());
      }
      return null;
    };
    var late = doing(handler, t -> t.timeout(Duration.ofMillis(50)));
    assertEquals("timed_out: took longer than its timeout of 50ms", late.status() + ": " + late.message());
    var cancelled = doing(handler, t -> t.timeout(Duration.ofHours(1)).cancelAfter(Duration.ofMillis(50)));
    assertEquals("cancelled: the run was cancelled", cancelled.status() + ": " + cancelled.message());
    assertEquals(List.of(Ending.TIMED_OUT, Ending.CANCELLED), seen);
  }

  @Test
  void whatAHandlerSaysAtItsEndIsAdded() {
    var end = doing((run, nothing) -> {
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        throw new IllegalStateException("half is written", e);
      }
      return null;
    }, t -> t.cancelAfter(Duration.ofMillis(50)));
    assertEquals("the run was cancelled; IllegalStateException: half is written", end.message());
  }

  @Test
  void theFireTimeAndTheCauseAreWhatTheTestSays() {
    Instant at = Instant.parse("2026-01-05T02:00:00Z");
    var end = doing((run, nothing) -> List.of(run.fireTime(), run.cause()), t -> t.fireTime(at).cause("manual"));
    assertEquals("[\"2026-01-05T02:00:00Z\",\"manual\"]", end.result().toString());
  }

  @Test
  void aHandlerKnowsTheStepThatItDoes() {
    var end = doing((run, nothing) -> List.of(run.step(), run.cause()), t -> t.step("load"));
    assertEquals("[\"load\",\"step\"]", end.result().toString());
    end = doing((run, nothing) -> List.of(run.step(), run.cause()), t -> t);
    assertEquals("[\"\",\"schedule\"]", end.result().toString());
  }

  @Test
  void aSecretInAResultIsMaskedAsInLife() {
    var end = doing((run, nothing) -> Map.of("token", run.secret("TOKEN")), t -> t.secret("TOKEN", "s3cret-value"));
    assertEquals("***", end.result().get("token").asText());
  }

  @Test
  void aFailureShowsItsClassUnlessItExplainsItself() {
    var failed = doing((run, nothing) -> {
      throw new IllegalStateException("a");
    }, t -> t);
    assertEquals("IllegalStateException: a", failed.message());
    assertTrue(failed.logged("java.lang.IllegalStateException: a"), failed.lines().toString());
    var explained = doing((run, nothing) -> {
      throw new RunFailedException("no such customer");
    }, t -> t);
    assertEquals("no such customer[]", explained.message() + explained.lines());
  }

  @Test
  void anExceptionThatCannotSayWhatItIsFailsTheRun() {
    var end = doing((run, nothing) -> {
      throw new IllegalStateException() {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
          throw new IllegalStateException("no message");
        }
      };
    }, t -> t);
    assertEquals("failed", end.status());
    assertTrue(end.message().startsWith("the handler threw io.carillon.executor.HandlersTest"), end.message());
  }

  @Test
  void parametersThatDoNotFitFailTheRunBeforeTheHandler() {
    var end = HandlerTest.of(handlers()).run("report", Map.of("region", "north", "rowz", 3));
    assertEquals("failed", end.status());
    assertTrue(end.message().startsWith("params of handler report: ") && end.message().contains("rowz"), end.message());
  }

  @Test
  void aHandlerWithoutParametersGetsAnEmptyObjectOrNull() {
    Handlers h = new Handlers();
    h.register("map", Map.class, Map.class, (run, p) -> p);
    h.register("json", JsonNode.class, Boolean.class, (run, p) -> p == null);
    h.registerGeneric("items", new TypeReference<List<Report>>() {}.getType(), String.class,
        (run, p) -> ((Report) ((List<?>) p).get(0)).region());
    assertEquals(Map.of(), HandlerTest.of(h).run("map", null).resultAs(Map.class));
    assertTrue(HandlerTest.of(h).run("json", null).resultAs(Boolean.class));
    assertEquals("north", HandlerTest.of(h).run("items", List.of(new Report("north", 1))).resultAs(String.class));
  }

  @Test
  void aRecordIsAnnouncedAsASchema() throws Exception {
    var about = handlers().all().get("report").about(Settings.of(Options.fromEnvironment().group("billing"), Map.of()));
    assertEquals("Writes the report of a region", about.get("description").asText());
    assertEquals(Json.parse("""
        {"type": "object", "properties": {"region": {"type": "string"}, "rows": {"type": "integer"}},
         "additionalProperties": false, "required": ["region", "rows"]}""".getBytes()), about.get("params_schema"));
    Handlers h = new Handlers();
    h.register("same", Report.class, Report.class, (run, p) -> p);
    assertEquals("integer", h.all().get("same").about(Settings.of(Options.fromEnvironment().group("billing"), Map.of()))
        .at("/result_schema/properties/rows/type").asText());
    assertNull(handlers().all().get("nan").about(Settings.of(Options.fromEnvironment().group("billing"), Map.of())).get("params_schema"));
  }

  @Test
  void whatAHandlerSaysMayBeNothing() {
    Handlers h = new Handlers();
    h.register("null", Void.class, Void.class, (run, nothing) -> {
      run.log().info(null);
      run.progress(Double.NaN, null);
      run.progress(200);
      return null;
    });
    var end = HandlerTest.of(h).run("null", null);
    assertEquals("succeeded", end.status(), end.message());
    assertEquals(List.of(0.0, 100.0), end.progress().stream().map(HandlerTest.Progress::percent).toList());
  }

  @Test
  void twoHandlersOfOneNameAreRefused() {
    var e = assertThrows(ConfigurationException.class, () -> handlers().register("report", Void.class, Void.class, (run, p) -> null));
    assertTrue(e.getMessage().contains("report"));
  }

  @Test
  void namesThatAHeartbeatHasNoRoomForAreRefused() {
    Handlers handlers = new Handlers();
    for (int i = 0; i < 100; i++) {
      handlers.register(i + "x".repeat(200), Void.class, Void.class, (run, p) -> null);
    }
    var e = assertThrows(ConfigurationException.class, handlers::checkNames);
    assertTrue(e.getMessage().contains("a heartbeat has 16384 for them"), e.getMessage());
  }

  @Test
  void interceptorsAreAroundTheHandlerTheFirstOutermost() {
    List<String> order = new ArrayList<>();
    Handlers h = handlers();
    for (String name : List.of("outer", "inner")) {
      h.intercept((run, next) -> {
        order.add(name);
        return Map.of(name, next.call());
      });
    }
    var end = HandlerTest.of(h).run("report", Map.of("region", "north", "rows", 1));
    assertEquals(List.of("outer", "inner"), order);
    assertTrue(end.result().at("/outer/inner/attempt").isInt());
  }

  @Test
  void aThreadThatGetsTheMdcLogsToTheRun() {
    Handlers h = new Handlers();
    h.register("threads", Void.class, Void.class, (run, nothing) -> {
      assertSame(run, Run.current());
      Map<String, String> mdc = MDC.getCopyOfContextMap();
      Thread other = new Thread(() -> {
        MDC.setContextMap(mdc);
        LoggerFactory.getLogger("other").info("from another thread");
      });
      other.start();
      other.join();
      return null;
    });
    var end = HandlerTest.of(h).run("threads", null);
    assertEquals("succeeded", end.status(), end.message());
    assertEquals(List.of("from another thread"), end.lines());
    assertNull(Run.current());
  }

  @Test
  void piecesAndItemsAreWhatTheTestSays() {
    Handlers h = new Handlers();
    h.register("piece", Void.class, List.class, (run, nothing) -> List.of(run.piece().index(), run.piece().total(), run.item().asText(), run.split()));
    assertEquals(List.of(1, 3, "north", false), HandlerTest.of(h).piece(1, 3).item("north").run("piece", null).resultAs(List.class));
  }

  @Test
  void anUnknownHandlerIsNamed() {
    var e = assertThrows(ConfigurationException.class, () -> HandlerTest.of(handlers()).run("repotr", null));
    assertTrue(e.getMessage().contains("report"));
  }
}
