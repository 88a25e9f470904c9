package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class NatsClockTest {
  private static final Instant STORED = Instant.parse("2026-01-05T02:00:00Z");

  private static void assertAhead(Duration ahead, Duration want, boolean changed) {
    assertEquals(changed, NatsClock.compare(STORED.plus(ahead), STORED));
    assertEquals(want, NatsClock.offset());
  }

  @Test
  void aClockIsCorrectedOnlyIfItIsWrong() {
    Duration ten = Duration.ofMinutes(10);
    try {
      assertAhead(Duration.ofSeconds(1), Duration.ZERO, false);
      assertAhead(ten, ten, true);
      assertAhead(ten.plusMillis(900), ten, false); // it was on its way
      assertAhead(ten.negated(), ten.negated(), true);
    } finally {
      assertAhead(Duration.ZERO, Duration.ZERO, true);
    }
  }
}
