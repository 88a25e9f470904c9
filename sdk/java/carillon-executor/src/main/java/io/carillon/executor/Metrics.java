package io.carillon.executor;

import java.time.Instant;
import java.util.function.IntSupplier;

/** What an executor counts and measures. This one does neither: the program has no OpenTelemetry. */
class Metrics implements AutoCloseable {
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

  /** Observes nothing any more. */
  @Override
  public void close() {}
}
