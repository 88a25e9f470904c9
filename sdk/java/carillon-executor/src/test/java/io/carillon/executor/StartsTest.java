package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import io.nats.client.Message;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StartsTest {
  private static final String UNAVAILABLE = "{\"fault\": {\"kind\": \"unavailable\", \"text\": \"busy\"}}";
  private static final Starts.Timing QUICK = new Starts.Timing(Duration.ofMinutes(1), Duration.ofMillis(1));

  private final FakeNats nats = new FakeNats();
  private Instance instance;

  interface Body {
    Object call(Run run) throws Exception;
  }

  /** Does an attempt with a handler, while servers answer in turn, with "" for no answer; returns its end. */
  private JsonNode end(Starts.Timing timing, Body body, String... answers) throws Exception {
    Deque<String> left = new ArrayDeque<>(Arrays.asList(answers));
    AtomicInteger n = new AtomicInteger();
    nats.answer = m -> {
      if (!m.getSubject().equals("start.billing")) {
        return FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}");
      }
      n.incrementAndGet();
      String answer = left.isEmpty() ? "{\"value\": {\"run_id\": \"run" + n + "\"}}" : left.removeFirst();
      return answer.isEmpty() ? null : FakeNats.message(answer);
    };
    Handlers handlers = new Handlers();
    handlers.register("h", Void.class, Object.class, (run, nothing) -> body.call(run));
    instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i"), Map.of()), handlers);
    instance.starts = timing;
    instance.broker.use(nats.connection);
    Trigger t = Triggers.of("");
    instance.onLoop(() -> instance.runs.start(t, Triggers.REPLY, ""));
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    return Json.parse(nats.last("evt.3.billing"));
  }

  @AfterEach
  void stop() {
    if (instance != null) {
      instance.threads.shutdownNow();
      instance.clock.shutdownNow();
      instance.loop.shutdownNow();
    }
  }

  private List<Message> requests() {
    return nats.sent.stream().filter(m -> m.getSubject().equals("start.billing")).toList();
  }

  private List<String> texts() {
    return requests().stream().map(m -> new String(m.getData(), StandardCharsets.UTF_8)).toList();
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], pairs[i + 1]);
    }
    return map;
  }

  @Test
  void aStartIsCountedByItsJobAndParamsAndBoundToTheAttempt() throws Exception {
    JsonNode end = end(QUICK, run -> {
      run.start("billing/b", map("y", List.of(map("b", 1, "a", 2)), "x", 2), StartOptions.in(Duration.ofHours(1)).expires(Duration.ofMinutes(1)));
      run.start("billing/b", map("x", 2, "y", List.of(map("a", 2, "b", 1))));
      run.start("billing/b", null);
      return run.start("billing/c", null, StartOptions.at(Instant.parse("2026-03-01T12:00:00Z")).labels(Map.of("zone", "eu")));
    });
    assertEquals(List.of(
        "{\"job\":\"billing/b\",\"params\":{\"x\":2,\"y\":[{\"a\":2,\"b\":1}]},\"in\":\"3600000ms\",\"expires\":\"60000ms\",\"count\":0}",
        "{\"job\":\"billing/b\",\"params\":{\"x\":2,\"y\":[{\"a\":2,\"b\":1}]},\"count\":1}",
        "{\"job\":\"billing/b\",\"count\":0}",
        "{\"job\":\"billing/c\",\"at\":\"2026-03-01T12:00:00.000Z\",\"labels\":{\"zone\":\"eu\"},\"count\":0}"), texts());
    assertEquals("token", requests().get(0).getHeaders().getFirst(Wire.TOKEN));
    assertEquals(Triggers.REPLY, requests().get(0).getHeaders().getFirst(Wire.ACK));
    assertEquals("run4", end.get("result").asText());
  }

  @Test
  void aStartWithoutAnAnswerIsRepeatedWithItsCount() throws Exception {
    JsonNode end = end(QUICK, run -> run.start("billing/b", null), "", UNAVAILABLE);
    assertEquals(Collections.nCopies(3, "{\"job\":\"billing/b\",\"count\":0}"), texts());
    assertEquals("run3", end.get("result").asText());
  }

  @Test
  void aStartThatIsRefusedThrows() throws Exception {
    JsonNode end = end(QUICK, run -> {
      StartRefusedException e = assertThrows(StartRefusedException.class, () -> run.start("billing/b", null));
      return List.of(e.kind(), e.getMessage());
    }, "{\"fault\": {\"kind\": \"conflict\", \"text\": \"it has ended\"}}");
    assertEquals(1, requests().size());
    assertEquals("[\"conflict\",\"it has ended\"]", end.get("result").toString());
  }

  @Test
  void aStartThatNoServerAnswersThrowsAtLast() throws Exception {
    JsonNode end = end(new Starts.Timing(Duration.ofMillis(10), Duration.ofMillis(1)), run -> run.start("billing/b", null),
        Collections.nCopies(100, UNAVAILABLE).toArray(String[]::new));
    assertEquals("failed", end.get("status").asText());
    assertEquals("StartRefusedException: busy", end.get("message").asText());
  }

  @Test
  void paramsThatJsonCannotHoldStartNothing() throws Exception {
    JsonNode end = end(QUICK, run -> run.start("billing/b", Map.of("ratio", Double.NaN)));
    assertEquals(0, requests().size());
    assertEquals("IllegalArgumentException: params.ratio is NaN or Infinity, which JSON does not have", end.get("message").asText());
  }

  @Test
  void theTestKitRecordsWhatAHandlerWantsToStart() {
    Handlers handlers = new Handlers();
    handlers.register("h", Void.class, String.class, (run, nothing) -> run.start("billing/b", Map.of("n", 1)));
    HandlerTest.End end = HandlerTest.of(handlers).run("h", null);
    assertEquals("[{\"job\":\"billing/b\",\"params\":{\"n\":1},\"count\":0}]", end.started().toString());
    assertEquals(36, end.result().asText().length());
  }
}
