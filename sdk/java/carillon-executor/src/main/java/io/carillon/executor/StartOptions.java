package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** When a run that a handler starts is due, and more. It cannot be changed: its methods return another one. */
public final class StartOptions {
  private static final StartOptions NOW = new StartOptions(null, null, null, Map.of());

  private final Instant at;
  private final Duration in;
  private final Duration expires;
  private final Map<String, String> labels;

  private StartOptions(Instant at, Duration in, Duration expires, Map<String, String> labels) {
    this.at = at;
    this.in = in;
    this.expires = expires;
    this.labels = labels;
  }

  /** The run is due at once. */
  public static StartOptions now() {
    return NOW;
  }

  /** The run is due at an instant, at most 7 days ago and 366 days ahead. */
  public static StartOptions at(Instant instant) {
    return new StartOptions(instant, null, null, Map.of());
  }

  /** The run is due after a while, by the clock of the server. */
  public static StartOptions in(Duration duration) {
    return new StartOptions(null, duration, null, Map.of());
  }

  /** The run is missed if it has not begun that long after it was due. */
  public StartOptions expires(Duration duration) {
    return new StartOptions(at, in, duration, labels);
  }

  /** Instead of the labels of the job. */
  public StartOptions labels(Map<String, String> replacement) {
    return new StartOptions(at, in, expires, Map.copyOf(replacement));
  }

  /** Writes the fields of a request. */
  void write(ObjectNode request) {
    if (at != null) {
      request.put("at", Wire.instant(at));
    }
    if (in != null) {
      request.put("in", Durations.format(in));
    }
    if (expires != null) {
      request.put("expires", Durations.format(expires));
    }
    if (!labels.isEmpty()) {
      ObjectNode node = request.putObject("labels");
      labels.forEach(node::put);
    }
  }
}
