package io.carillon.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;

/** When a run begins, and more. It cannot be changed: its methods return another one. */
public final class RunOptions {
  private static final DateTimeFormatter INSTANT = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final RunOptions NOW = new RunOptions("", "", "", null, null, false);

  private final String at;
  private final String in;
  private final String expires;
  private final Map<String, String> labels;
  private final String key;
  private final boolean reset;

  private RunOptions(String at, String in, String expires, Map<String, String> labels, String key, boolean reset) {
    this.at = at;
    this.in = in;
    this.expires = expires;
    this.labels = labels;
    this.key = key;
    this.reset = reset;
  }

  /** The run begins as soon as it can. */
  public static RunOptions now() {
    return NOW;
  }

  /** The run begins at an instant, at most 366 days ahead. */
  public static RunOptions at(Instant instant) {
    return new RunOptions(INSTANT.format(instant), "", "", null, null, false);
  }

  /** The run begins after a while, by the clock of the server. */
  public static RunOptions in(Duration duration) {
    return new RunOptions("", text(duration), "", null, null, false);
  }

  /** How long after it is due the run may begin. Later, it is missed. */
  public RunOptions expires(Duration duration) {
    return new RunOptions(at, in, text(duration), labels, key, reset);
  }

  /** By when the run must have begun. Later, it is missed. */
  public RunOptions expires(Instant instant) {
    return new RunOptions(at, in, INSTANT.format(instant), labels, key, reset);
  }

  /** Instead of the labels of the job. */
  public RunOptions labels(Map<String, String> replacement) {
    return new RunOptions(at, in, expires, Map.copyOf(replacement), key, reset);
  }

  /**
   * A text of 1 to 256 bytes for which the job makes one run, until seven days after that is due and while it is
   * alive: other calls with the key return that run.
   */
  public RunOptions key(String text) {
    return new RunOptions(at, in, expires, labels, text, reset);
  }

  /** Makes another run although the one with the key has ended. */
  public RunOptions reset() {
    return new RunOptions(at, in, expires, labels, key, true);
  }

  /** Writes the fields of a request. */
  void write(ObjectNode request) {
    put(request, "at", at);
    put(request, "in", in);
    put(request, "expires", expires);
    if (key != null) {
      request.put("key", key);
    }
    if (reset) {
      request.put("reset", true);
    }
    if (labels != null) {
      ObjectNode node = request.putObject("labels");
      labels.forEach(node::put);
    }
  }

  private static void put(ObjectNode request, String name, String value) {
    if (!value.isEmpty()) {
      request.put(name, value);
    }
  }

  private static String text(Duration d) {
    return d.toMillis() % 1000 == 0 ? d.toSeconds() + "s" : d.toMillis() + "ms";
  }
}
