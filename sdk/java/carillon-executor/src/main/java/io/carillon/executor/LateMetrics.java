package io.carillon.executor;

import java.time.Instant;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * Metrics that are made when there is something to measure. To ask OpenTelemetry for them at the start would
 * keep a program from setting it up after that.
 */
final class LateMetrics extends Metrics {
  private static final Logger LOG = Log.of(Executor.class);

  private final Supplier<Metrics> make;
  private Metrics made; // guarded by this

  LateMetrics(Supplier<Metrics> make) {
    this.make = make;
  }

  /** Measures, if it can. A run does not fail because that cannot be done. */
  private synchronized void measure(Consumer<Metrics> what) {
    try {
      if (made == null) {
        made = make.get();
      }
      what.accept(made);
    } catch (LinkageError | RuntimeException e) {
      LOG.warn("nothing is measured, as this OpenTelemetry does not fit; opentelemetry-api must be 1.32 or newer", e);
      made = new Metrics();
    }
  }

  @Override
  void began() {
    measure(Metrics::began);
  }

  @Override
  void count(Count what, long n) {
    measure(m -> m.count(what, n));
  }

  @Override
  void ended(Trigger trigger, String status, Instant came, Instant started, Instant finished) {
    measure(m -> m.ended(trigger, status, came, started, finished));
  }

  @Override
  public synchronized void close() {
    if (made != null) {
      made.close();
    }
    made = new Metrics(); // and nothing is made any more
  }
}
