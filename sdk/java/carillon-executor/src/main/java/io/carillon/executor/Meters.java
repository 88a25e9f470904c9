package io.carillon.executor;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongGauge;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.DoubleStream;

/** Metrics in OpenTelemetry. Loaded only if its API is there. */
final class Meters extends Metrics {
  private static final AttributeKey<String> STATUS = AttributeKey.stringKey("status");

  private final Meter meter = GlobalOpenTelemetry.getMeter("io.carillon.executor");
  private final Attributes labels;
  private final Map<Count, LongCounter> counts = new EnumMap<>(Count.class);
  private final LongCounter runs = counter("runs", RUNS);
  private final DoubleHistogram deliveryDelay = histogram("delivery_delay", DELIVERY_DELAY, DELIVERY_BOUNDS);
  private final DoubleHistogram startDelay = histogram("start_delay", START_DELAY, START_BOUNDS);
  private final DoubleHistogram run = histogram("run", RUN, RUN_BOUNDS);
  private final List<ObservableLongGauge> gauges;

  Meters(String group, String instance, IntSupplier slots, IntSupplier inUse) {
    labels = Attributes.of(AttributeKey.stringKey("executor_group"), group, AttributeKey.stringKey("instance_name"), instance);
    for (Count c : Count.values()) {
      counts.put(c, counter(c.name().toLowerCase(Locale.ROOT), c.description));
    }
    gauges = List.of(gauge("slots", SLOTS, slots), gauge("slots_in_use", SLOTS_IN_USE, inUse));
  }

  private LongCounter counter(String name, String description) {
    return meter.counterBuilder(PREFIX + name).setDescription(description).build();
  }

  private DoubleHistogram histogram(String name, String description, double... bounds) {
    List<Double> at = DoubleStream.of(bounds).boxed().toList();
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
    return between(from, to).toNanos() / 1e9;
  }

  @Override
  public void close() {
    gauges.forEach(ObservableLongGauge::close);
  }
}
