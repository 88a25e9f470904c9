package io.carillon.executor;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** Words of docs/reference/protocol.md. */
final class Wire {
  static final int PROTOCOL = 3;
  static final String SDK = "carillon-java/0.1.0";

  static final int MAX_MESSAGE = 16 << 10;
  static final int MAX_RESULT = 64 << 10;
  static final int MAX_LOG_TEXT = 32 << 10;
  static final int MAX_ANNOUNCEMENT = 32 << 10;
  static final int MAX_HANDLER_NAMES = 16 << 10;
  static final int MAX_LABELS = 8 << 10;
  static final int MAX_VERSION = 255;
  static final Duration ACK_WAIT = Duration.ofSeconds(15);

  static final String MESSAGE = "Carillon-Message";
  static final String TRIGGER = "trigger.v1";
  static final String TOKEN = "Carillon-Token";
  static final String ACK = "Carillon-Ack";
  static final String INSTANCE = "Carillon-Instance";
  static final String PACK = "Carillon-Pack";
  static final String ROUTE_REASON = "Carillon-Route-Reason";
  static final String RESUME = "Carillon-Resume";
  static final String ALONE = "Carillon-Alone";
  static final String TRACE = "traceparent";
  static final String MSG_ID = "Nats-Msg-Id";
  static final String EXPECTED = "Nats-Expected-Last-Subject-Sequence";

  /** The error of JetStream that says: the last message of the subject is not the one that was expected. */
  static final int WRONG_LAST_SEQUENCE = 10071;

  private static final Pattern SLUG = Pattern.compile("[a-z0-9][a-z0-9_-]{0,62}");
  private static final DateTimeFormatter INSTANT =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private Wire() {}

  static boolean isSlug(String text) {
    return SLUG.matcher(text).matches();
  }

  /** An instant as the protocol writes it, in milliseconds. */
  static String instant(Instant at) {
    return INSTANT.format(at);
  }

  /** As much of a text as that many bytes hold, cut at a character. */
  static String cut(String text, int most) {
    byte[] data = text.getBytes(StandardCharsets.UTF_8); // half a character becomes ?
    return data.length <= most ? new String(data, StandardCharsets.UTF_8) : prefix(data, 0, most);
  }

  /** The characters that begin at {@code from}, of at most that many bytes. */
  static String prefix(byte[] data, int from, int most) {
    ByteBuffer in = ByteBuffer.wrap(data, from, Math.min(most, data.length - from));
    CharBuffer out = CharBuffer.allocate(most);
    StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).decode(in, out, false);
    return out.flip().toString();
  }

  /** The answer that gives a trigger back: after 1 s at first, doubling up to 15 s. */
  static String giveBack(int delivered) {
    long seconds = Math.min(1L << Math.min(Math.max(delivered, 1) - 1, 10), 15);
    return "-NAK {\"delay\": " + seconds * 1_000_000_000L + "}";
  }

  /** The W3C trace context of an attempt whose trigger has none, as servers compute it: the trace id is the run id. */
  static String fireTrace(String runId, int attempt) {
    String trace = runId.replace("-", "");
    long span = 0xcbf29ce484222325L;
    for (byte b : HexFormat.of().parseHex(trace)) { // FNV-1a
      span = (span ^ (b & 0xff)) * 0x100000001b3L;
    }
    for (byte b : String.valueOf(attempt).getBytes(StandardCharsets.UTF_8)) {
      span = (span ^ b) * 0x100000001b3L;
    }
    return "00-" + trace + "-" + HexFormat.of().toHexDigits(span | 1) + "-01";
  }
}
