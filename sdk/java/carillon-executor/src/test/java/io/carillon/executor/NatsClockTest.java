package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class NatsClockTest {
  private static final Instant STORED = Instant.parse("2026-01-05T02:00:00Z");

  private final NatsClock clock = new NatsClock();

  private void assertAhead(Duration ahead, Duration want, boolean changed) {
    assertEquals(changed, clock.compare(STORED.plus(ahead), STORED));
    assertEquals(want, clock.offset());
  }

  @Test
  void aClockIsCorrectedOnlyIfItIsWrong() {
    Duration ten = Duration.ofMinutes(10);
    assertAhead(Duration.ofSeconds(1), Duration.ZERO, false);
    assertAhead(ten, ten, true);
    assertAhead(ten.plusMillis(900), ten, false); // it was on its way
    assertAhead(ten.negated(), ten.negated(), true);
    assertAhead(Duration.ZERO, Duration.ZERO, true);
  }

  /** Two executors of one program may be connected to different NATS servers. */
  @Test
  void theClockOfOneExecutorCorrectsNoOther() {
    NatsClock other = new NatsClock();
    assertAhead(Duration.ofMinutes(10), Duration.ofMinutes(10), true);
    assertEquals(Duration.ZERO, other.offset());
  }
}
