package io.carillon.executor;

import java.util.Locale;

/** Whether an instance takes work. */
enum State {
  ONLINE,
  CORDONED,
  DRAINING;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
