package io.carillon.executor;

import org.slf4j.Logger;

/** Warnings about something that is tried again and again: the first, the second, the fourth and so on. */
final class Doubling {
  private static final Logger LOG = Log.of(Executor.class);

  private int count;

  /** Counts a failure, and logs it if it is due. */
  void warn(String pattern, Object... arguments) {
    if (Integer.bitCount(++count) == 1) {
      LOG.warn(pattern, arguments);
    }
  }
}
