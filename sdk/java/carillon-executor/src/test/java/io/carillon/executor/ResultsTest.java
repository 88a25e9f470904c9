package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;

class ResultsTest {
  private static HandlerTest.End returning(Handler<Object, Object> handler) {
    Handlers h = new Handlers();
    h.register("h", Object.class, Object.class, handler);
    return HandlerTest.of(h).run("h", null);
  }

  private static CompletionStage<Object> later(Object value) {
    return CompletableFuture.supplyAsync(() -> value);
  }

  @Test
  void whatCanBeAwaitedIsAwaited() {
    FutureTask<Object> task = new FutureTask<>(() -> 1);
    new Thread(task).start();
    for (Object value : List.of(later(1), later(later(1)), task, ((CompletableFuture<?>) later(1)).minimalCompletionStage())) {
      var end = returning((run, nothing) -> value);
      assertEquals("succeeded", end.status(), end.message());
      assertEquals(1, end.result().asInt());
    }
  }

  @Test
  void anErrorOfAFutureIsTheErrorOfItsRun() {
    var end = returning((run, nothing) -> CompletableFuture.failedFuture(new FinalException("no such customer")));
    assertEquals("failed", end.status());
    assertTrue(end.isFinal() && end.message().contains("no such customer"), end.message());
    var wrapped = returning((run, nothing) -> CompletableFuture.runAsync(() -> {
      throw new IllegalStateException("disk full");
    }).thenApply(x -> x));
    assertTrue(wrapped.message().contains("disk full") && !wrapped.message().contains("CompletionException"), wrapped.message());
  }

  @Test
  void aFutureIsCancelledWithItsRun() {
    CompletableFuture<Object> never = new CompletableFuture<>();
    returning((run, nothing) -> {
      Thread.currentThread().interrupt(); // as an executor does when a run has to end
      return never;
    });
    assertTrue(never.isCancelled());
  }

  record Report(Object rows) {}

  @Test
  void workThatIsNotDoneFailsTheRun() {
    assertUnfinished("result.a[1] is a future (CompletableFuture)", Map.of("a", List.of(1, later(1))));
    assertUnfinished("result.rows is a future (CompletableFuture)", new Report(later(1)));
    assertUnfinished("the result is a stream (ByteArrayInputStream)", new ByteArrayInputStream(new byte[1]));
    assertUnfinished("result.body is a stream (StringReader)", Map.of("body", new StringReader("x")));
    try (var publisher = new SubmissionPublisher<Integer>()) {
      assertUnfinished("result[0] is a publisher (SubmissionPublisher)", List.of(publisher));
    }
  }

  private static void assertUnfinished(String says, Object value) {
    var end = returning((run, nothing) -> value);
    assertEquals("failed", end.status(), says);
    assertNull(end.result());
    assertEquals("the handler returned unfinished work: " + says + "; finish it in the handler, and return its value", end.message());
  }

  record Times(Instant at, LocalDate day, Duration took, Optional<String> note) {}

  @Test
  void aResultMayHaveTimes() {
    var end = returning((run, nothing) -> new Times(Instant.parse("2026-01-05T02:00:00Z"), LocalDate.of(2026, 1, 5), Duration.ofSeconds(90), Optional.of("x")));
    assertEquals("{\"at\":\"2026-01-05T02:00:00Z\",\"day\":\"2026-01-05\",\"took\":\"PT1M30S\",\"note\":\"x\"}", String.valueOf(end.result()), end.message());
  }

  @Test
  void aResultThatRefersToItselfIsLeftOut() {
    Map<String, Object> loop = new HashMap<>();
    loop.put("again", loop);
    var end = returning((run, nothing) -> loop);
    assertEquals("succeeded", end.status(), end.message());
    assertTrue(end.message().contains("left out"), end.message());
  }
}
