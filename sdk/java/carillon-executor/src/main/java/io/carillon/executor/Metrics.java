package io.carillon.executor;

import java.time.Duration;
import java.time.Instant;
import java.util.function.IntSupplier;

/** What an executor counts and measures. This one does neither: the program has no OpenTelemetry, and no registry of Micrometer. */
class Metrics implements AutoCloseable {
  static final String PREFIX = "carillon.executor.";
  static final String RUNS = "Attempts that ended, by final status.";
  static final String DELIVERY_DELAY = "Time from the commit of a trigger until it came here.";
  static final String START_DELAY = "Time from when a trigger came here until its handler was called.";
  static final String RUN = "Time from when a handler was called to the end of its attempt.";
  static final String SLOTS = "Runs that there may be at once.";
  static final String SLOTS_IN_USE = "Runs that there are.";
  // In seconds; those of the Go SDK.
  static final double[] DELIVERY_BOUNDS = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1800};
  static final double[] START_BOUNDS = {0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 1, 5};
  static final double[] RUN_BOUNDS = {0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400};

  /** Makes the metrics of an instance. */
  @FunctionalInterface
  interface Maker {
    Metrics make(String group, String instance, IntSupplier slots, IntSupplier inUse);
  }

  /** What is counted. */
  enum Count {
    RUNS_GIVEN_BACK("Triggers that were given back to the group, because the executor stops or nobody could take them."),
    TRIGGERS_HANDED_OVER("Triggers that were handed to a server: delivered before, or not to be done here."),
    MESSAGES_REFUSED("Messages of this executor that servers said they refused, at most one a second."),
    HANDLERS_ABANDONED("Handlers that ignored their cancellation, and were left behind."),
    TRIGGERS_REJECTED("Messages that were no triggers of the group."),
    EVENT_PUBLISH_RETRIES("Finished events that had to be published again."),
    LOG_LINES_DROPPED("Log lines given up because the log stream did not take them.");

    final String description;

    Count(String description) {
      this.description = description;
    }
  }

  /** The metrics of an instance, in OpenTelemetry if its API is there, once there is something to measure. */
  static Metrics of(String group, String instance, IntSupplier slots, IntSupplier inUse) {
    return Handlers.isPresent("io.opentelemetry.api.GlobalOpenTelemetry") ? new LateMetrics(() -> new Meters(group, instance, slots, inUse)) : new Metrics();
  }

  /** The work of an attempt begins. */
  void began() {}

  void count(Count what, long n) {}

  /**
   * An attempt has ended, or was given back.
   *
   * @param status as the protocol has it; "" if it was given back
   * @param started null if its handler was not called
   */
  void ended(Trigger trigger, String status, Instant came, Instant started, Instant finished) {}

  /** The time from one instant to another, which clocks may have mixed up. */
  static Duration between(Instant from, Instant to) {
    Duration d = Duration.between(from, to);
    return d.isNegative() ? Duration.ZERO : d;
  }

  /** Observes nothing any more. */
  @Override
  public void close() {}
}
