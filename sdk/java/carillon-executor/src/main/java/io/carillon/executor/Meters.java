package io.carillon.executor;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongGauge;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;

/** Metrics in OpenTelemetry. Loaded only if its API is there. */
final class Meters extends Metrics {
  private static final String PREFIX = "carillon.executor.";
  private static final AttributeKey<String> STATUS = AttributeKey.stringKey("status");
  private static final Duration NONE = Duration.ZERO;

  private final Meter meter = GlobalOpenTelemetry.getMeter("io.carillon.executor");
  private final Attributes labels;
  private final Map<Count, LongCounter> counts = new EnumMap<>(Count.class);
  private final LongCounter runs = counter("runs", "Attempts that ended, by final status.");
  // The bounds are those of the Go SDK.
  private final DoubleHistogram deliveryDelay = histogram("delivery_delay", "Time from the commit of a trigger until it came here.",
      0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1800);
  private final DoubleHistogram startDelay = histogram("start_delay", "Time from when a trigger came here until its handler was called.",
      0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 1, 5);
  private final DoubleHistogram run = histogram("run", "Time from when a handler was called to the end of its attempt.",
      0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400);
  private final List<ObservableLongGauge> gauges;

  Meters(String group, String instance, IntSupplier slots, IntSupplier inUse) {
    labels = Attributes.of(AttributeKey.stringKey("executor_group"), group, AttributeKey.stringKey("instance_name"), instance);
    for (Count c : Count.values()) {
      counts.put(c, counter(c.name().toLowerCase(Locale.ROOT), c.description));
    }
    gauges = List.of(gauge("slots", "Runs that there may be at once.", slots), gauge("slots_in_use", "Runs that there are.", inUse));
  }

  private LongCounter counter(String name, String description) {
    return meter.counterBuilder(PREFIX + name).setDescription(description).build();
  }

  private DoubleHistogram histogram(String name, String description, Number... bounds) {
    List<Double> at = List.of(bounds).stream().map(Number::doubleValue).toList();
    return meter.histogramBuilder(PREFIX + name).setDescription(description).setUnit("s").setExplicitBucketBoundariesAdvice(at).build();
  }

  private ObservableLongGauge gauge(String name, String description, IntSupplier value) {
    return meter.gaugeBuilder(PREFIX + name).ofLongs().setDescription(description).buildWithCallback(m -> m.record(value.getAsInt(), labels));
  }

  @Override
  void count(Count what, long n) {
    if (n > 0) {
      counts.get(what).add(n, labels);
    }
  }

  @Override
  void ended(Trigger trigger, String status, Instant came, Instant started, Instant finished) {
    if (status.isEmpty()) {
      return;
    }
    runs.add(1, labels.toBuilder().put(STATUS, status).build());
    if (started != null) {
      Instant committed = trigger.instant("committed_at");
      deliveryDelay.record(seconds(committed == null ? came : committed, came), labels);
      startDelay.record(seconds(came, started), labels);
      run.record(seconds(started, finished), labels);
    }
  }

  private static double seconds(Instant from, Instant to) {
    Duration d = Duration.between(from, to);
    return d.compareTo(NONE) < 0 ? 0 : d.toNanos() / 1e9;
  }

  @Override
  public void close() {
    gauges.forEach(ObservableLongGauge::close);
  }
}
