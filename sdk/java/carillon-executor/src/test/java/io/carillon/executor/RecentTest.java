package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentTest {
  @Test
  void ofTooManyNamesTheOldestAreForgotten() {
    Recent<String> names = new Recent<>(Duration.ofHours(1), 3);
    List.of("a", "b", "c", "a", "d").forEach(names::add);
    assertFalse(names.contains("b"));
    assertTrue(names.contains("a") && names.contains("c") && names.contains("d"));
    assertEquals(3, names.size());
    names.remove("c");
    assertEquals(2, names.size());
  }

  @Test
  void aNameIsForgottenWhenItsTimeIsOver() {
    Recent<String> names = new Recent<>(Duration.ZERO);
    names.add("a");
    assertFalse(names.contains("a"));
    assertEquals(0, names.size());
  }
}
