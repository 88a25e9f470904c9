package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.impl.Headers;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TracingTest {
  @RegisterExtension
  static final OpenTelemetryExtension OTEL = OpenTelemetryExtension.create();

  private static final String FIRE = "00-019b8be1f500746c9285f6b4613a1707-00f067aa0ba902b7-01";

  @Test
  void anAttemptIsASpanBelowItsFire() throws Exception {
    Handlers handlers = new Handlers();
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      assertTrue(run.traceParent().contains(Span.current().getSpanContext().getSpanId()));
      throw new FinalException("no");
    });
    var clock = Executors.newSingleThreadScheduledExecutor();
    try {
      Trigger t = Trigger.decode(Json.bytes(Triggers.raw("")), new Headers().put(Wire.TRACE, FIRE), Triggers.REPLY, "billing");
      LiveRun run = new LiveRun(t, new RunLog(new NatsClock(), clock, 1, batch -> CompletableFuture.completedFuture(null), 1000, 1000), p -> {}, request -> "");
      handlers.call(run);
    } catch (FinalException e) {
      assertEquals("no", e.getMessage());
    } finally {
      clock.shutdownNow();
    }
    var span = OTEL.getSpans().get(0);
    assertEquals("run billing/nightly", span.getName());
    assertEquals("019b8be1f500746c9285f6b4613a1707", span.getTraceId());
    assertEquals("00f067aa0ba902b7", span.getParentSpanId());
    assertEquals("no", span.getStatus().getDescription());
  }
}
