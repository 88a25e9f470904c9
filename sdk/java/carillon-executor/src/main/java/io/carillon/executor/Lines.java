package io.carillon.executor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Cuts a text into lines that the protocol takes. */
final class Lines {
  /** Ends a line that was cut. */
  static final String MARK = "…";
  private static final int MOST = Wire.MAX_LOG_TEXT - 2 * MARK.getBytes(StandardCharsets.UTF_8).length;

  private Lines() {}

  static List<String> of(String text) {
    List<String> lines = new ArrayList<>();
    for (String line : text.split("\r\n|\n|\r", -1)) {
      add(lines, line.getBytes(StandardCharsets.UTF_8));
    }
    return lines;
  }

  /** Adds a line in pieces that fit: all but the last end, and all but the first begin, with …. */
  private static void add(List<String> lines, byte[] line) {
    if (line.length <= Wire.MAX_LOG_TEXT) {
      lines.add(new String(line, StandardCharsets.UTF_8));
      return;
    }
    for (int at = 0; at < line.length; ) {
      String piece = Wire.prefix(line, at, MOST);
      String before = at > 0 ? MARK : "";
      at += piece.getBytes(StandardCharsets.UTF_8).length;
      lines.add(before + piece + (at < line.length ? MARK : ""));
    }
  }
}
