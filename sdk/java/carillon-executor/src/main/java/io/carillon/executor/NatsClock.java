package io.carillon.executor;

import java.time.Duration;
import java.time.Instant;

/**
 * Corrects the clock of this machine, if that is wrong: instants of the protocol are those of the NATS that
 * an executor is connected to. Any thread may use it.
 */
final class NatsClock {
  /** Clocks differ by as much as this anyhow. */
  static final Duration TOLERANCE = Duration.ofSeconds(2);

  private volatile Duration offset = Duration.ZERO; // by how much this machine's clock is ahead of NATS'

  /** The time by NATS' clock, as far as this machine's own is known to be wrong. */
  Instant now() {
    return Instant.now().minus(offset);
  }

  Duration offset() {
    return offset;
  }

  /** Learns that NATS stored at one instant what was sent at another by this machine's clock. True if that changes much. */
  boolean compare(Instant own, Instant stored) {
    Duration between = Duration.between(stored, own);
    Duration ahead = between.abs().compareTo(TOLERANCE) > 0 ? between : Duration.ZERO;
    if (ahead.minus(offset).abs().compareTo(TOLERANCE.dividedBy(2)) <= 0) {
      return false;
    }
    offset = ahead;
    return true;
  }
}
