package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MetricsTest {
  @RegisterExtension
  static final OpenTelemetryExtension OTEL = OpenTelemetryExtension.create();

  private static final Attributes LABELS = Attributes.of(AttributeKey.stringKey("executor_group"), "billing", AttributeKey.stringKey("instance_name"), "i");

  private static MetricData metric(List<MetricData> all, String name) {
    return all.stream().filter(m -> m.getName().equals("carillon.executor." + name)).findAny().orElseThrow(() -> new AssertionError("no " + name));
  }

  private static LongPointData point(MetricData metric, Attributes labels) {
    var points = metric.getData().getPoints().stream().map(LongPointData.class::cast);
    return points.filter(p -> p.getAttributes().equals(labels)).findAny().orElseThrow(() -> new AssertionError("no " + labels + " in " + metric));
  }

  @Test
  void anAttemptIsCountedAndItsTimesAreMeasured() throws Exception {
    FakeNats nats = new FakeNats();
    Handlers handlers = new Handlers();
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      throw new FinalException("no");
    });
    Instance instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i").slots(7), Map.of()), handlers);
    try {
      instance.broker.use(nats.connection);
      Trigger t = Triggers.of("");
      instance.onLoop(() -> instance.runs.start(t, Triggers.REPLY, ""));
      FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
      FakeNats.until(() -> instance.runs.running() == 0);
      instance.loop.submit(() -> instance.runs.set(0, null)).get();
      Trigger second = Triggers.of("\"attempt\": 2");
      instance.loop.submit(() -> instance.runs.take(second, Triggers.REPLY)).get();
      assertTrue(nats.has(Triggers.REPLY, "-NAK"));
      instance.loop.submit(() -> instance.runs.set(7, null)).get();
      List<MetricData> all = OTEL.getMetrics();
      assertEquals(1, point(metric(all, "runs"), LABELS.toBuilder().put("status", "failed").build()).getValue());
      assertEquals(1, point(metric(all, "runs_given_back"), LABELS).getValue());
      assertEquals(7, point(metric(all, "slots"), LABELS).getValue());
      assertEquals(0, point(metric(all, "slots_in_use"), LABELS).getValue());
      for (String name : List.of("delivery_delay", "start_delay", "run")) {
        var times = (HistogramPointData) metric(all, name).getData().getPoints().iterator().next();
        assertEquals(1, times.getCount(), name);
        assertEquals(LABELS, times.getAttributes());
      }
      instance.metrics.close();
      assertTrue(OTEL.getMetrics().stream().noneMatch(m -> m.getName().startsWith("carillon.executor.slots")));
    } finally {
      instance.threads.shutdownNow();
      instance.clock.shutdownNow();
      instance.loop.shutdownNow();
    }
  }

  @Test
  void aRegistryOfMicrometerHasTheSameMetrics() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    Metrics metrics = Settings.of(Options.fromEnvironment().group("billing").meterRegistry(registry), Map.of()).metrics().make("billing", "i", () -> 7, () -> 1);
    Trigger t = Triggers.of("");
    Instant came = t.instant("committed_at").plusMillis(20);
    metrics.ended(t, "failed", came, came.plusMillis(1), came.plusSeconds(2));
    metrics.ended(t, "", came, came, came); // given back
    metrics.count(Metrics.Count.RUNS_GIVEN_BACK, 1);
    Tags tags = Tags.of("executor_group", "billing", "instance_name", "i");
    assertEquals(1, registry.get("carillon.executor.runs").tags(tags.and("status", "failed")).counter().count());
    assertEquals(1, registry.get("carillon.executor.runs_given_back").tags(tags).counter().count());
    assertEquals(7, registry.get("carillon.executor.slots").tags(tags).gauge().value());
    assertEquals(1, registry.get("carillon.executor.slots_in_use").tags(tags).gauge().value());
    assertEquals(0.02, registry.get("carillon.executor.delivery_delay").tags(tags).timer().totalTime(TimeUnit.SECONDS), 1e-9);
    assertEquals(0.001, registry.get("carillon.executor.start_delay").tags(tags).timer().totalTime(TimeUnit.SECONDS), 1e-9);
    assertEquals(1.999, registry.get("carillon.executor.run").tags(tags).timer().totalTime(TimeUnit.SECONDS), 1e-9);
    metrics.close();
    assertTrue(registry.getMeters().isEmpty());
  }
}
