package io.carillon.executor;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.stream.DoubleStream;

/** Metrics in Micrometer, with the names, labels and bounds that the Go SDK has in Prometheus. Loaded only if it is there. */
final class MicrometerMeters extends Metrics {
  private final MeterRegistry registry;
  private final Tags tags;
  private final Set<Meter> made = ConcurrentHashMap.newKeySet();
  private final Map<Count, Counter> counts = new EnumMap<>(Count.class);
  private final Timer deliveryDelay;
  private final Timer startDelay;
  private final Timer run;

  MicrometerMeters(MeterRegistry registry, String group, String instance, IntSupplier slots, IntSupplier inUse) {
    this.registry = registry;
    this.tags = Tags.of("executor_group", group, "instance_name", instance);
    for (Count c : Count.values()) {
      counts.put(c, counter(c.name().toLowerCase(Locale.ROOT), c.description, tags));
    }
    deliveryDelay = timer("delivery_delay", DELIVERY_DELAY, DELIVERY_BOUNDS);
    startDelay = timer("start_delay", START_DELAY, START_BOUNDS);
    run = timer("run", RUN, RUN_BOUNDS);
    gauge("slots", SLOTS, slots);
    gauge("slots_in_use", SLOTS_IN_USE, inUse);
  }

  private <M extends Meter> M kept(M meter) {
    made.add(meter);
    return meter;
  }

  private Counter counter(String name, String description, Tags with) {
    return kept(Counter.builder(PREFIX + name).description(description).tags(with).register(registry));
  }

  private Timer timer(String name, String description, double... bounds) {
    Duration[] at = DoubleStream.of(bounds).mapToObj(seconds -> Duration.ofNanos(Math.round(seconds * 1e9))).toArray(Duration[]::new);
    return kept(Timer.builder(PREFIX + name).description(description).tags(tags).serviceLevelObjectives(at).register(registry));
  }

  private void gauge(String name, String description, IntSupplier value) {
    kept(Gauge.builder(PREFIX + name, value::getAsInt).description(description).tags(tags).register(registry));
  }

  @Override
  void count(Count what, long n) {
    counts.get(what).increment(n);
  }

  @Override
  void ended(Trigger trigger, String status, Instant came, Instant started, Instant finished) {
    if (status.isEmpty()) {
      return;
    }
    counter("runs", RUNS, tags.and("status", status)).increment();
    if (started != null) {
      Instant committed = trigger.instant("committed_at");
      deliveryDelay.record(between(committed == null ? came : committed, came));
      startDelay.record(between(came, started));
      run.record(between(started, finished));
    }
  }

  @Override
  public void close() {
    made.forEach(registry::remove);
  }
}
