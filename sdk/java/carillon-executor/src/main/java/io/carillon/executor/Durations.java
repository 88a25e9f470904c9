package io.carillon.executor;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as the protocol writes them: 90s, 1h30m, 250ms, 2d. */
final class Durations {
  private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(h|ms|m|s|us|µs|ns|d)");
  private static final Map<String, Double> NANOS =
      Map.of("d", 864e11, "h", 36e11, "m", 6e10, "s", 1e9, "ms", 1e6, "us", 1e3, "µs", 1e3, "ns", 1.0);

  private Durations() {}

  static Duration parse(String text) {
    if (text.isEmpty() || text.equals("0")) {
      return Duration.ZERO;
    }
    Matcher m = PART.matcher(text);
    double nanos = 0;
    int end = 0;
    while (end < text.length() && m.find(end) && m.start() == end) {
      nanos += Double.parseDouble(m.group(1)) * NANOS.get(m.group(2));
      end = m.end();
    }
    if (end != text.length()) {
      throw new IllegalArgumentException("\"" + text + "\" must be a duration such as 90s or 1h30m");
    }
    return Duration.ofNanos((long) nanos);
  }

  /** In nanoseconds, of which a long holds 292 years. */
  static long nanos(Duration d) {
    try {
      return d.toNanos();
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE;
    }
  }

  static String format(Duration d) {
    return d.toMillis() + "ms";
  }
}
