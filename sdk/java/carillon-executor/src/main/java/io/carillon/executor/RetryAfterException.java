package io.carillon.executor;

import java.time.Duration;

/**
 * Throw it when you know when another try makes sense. The job's rule still says whether there is
 * another attempt.
 */
public class RetryAfterException extends RunFailedException {
  private static final Duration MOST = Duration.ofDays(7);

  private final Duration delay;

  /** A try after the delay, which is at most seven days. */
  public RetryAfterException(Duration delay, String message) {
    super(message);
    Duration atLeastZero = delay.isNegative() ? Duration.ZERO : delay;
    this.delay = atLeastZero.compareTo(MOST) > 0 ? MOST : atLeastZero;
  }

  /** How long after this end the next attempt is due. */
  public Duration delay() {
    return delay;
  }
}
