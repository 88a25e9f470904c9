package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WireTest {
  @ParameterizedTest
  @CsvSource({"90s,90000", "1h30m,5400000", "250ms,250", "2d,172800000", "'',0", "0,0", "1m0.5s,60500"})
  void durationsAreRead(String text, long millis) {
    assertEquals(Duration.ofMillis(millis), Durations.parse(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"90", "s", "1h 30m", "-5s", "1x", "5s "})
  void whatIsNoDurationIsRefused(String text) {
    var e = assertThrows(IllegalArgumentException.class, () -> Durations.parse(text));
    assertTrue(e.getMessage().contains("90s"));
  }

  @Test
  void instantsHaveMilliseconds() {
    assertEquals("2026-01-05T02:00:00.123Z", Wire.instant(Instant.parse("2026-01-05T02:00:00.123456789Z")));
    assertEquals("2026-01-05T02:00:00.000Z", Wire.instant(Instant.parse("2026-01-05T02:00:00Z")));
  }

  @Test
  void aTextIsCutAtACharacterAndHalfACharacterIsReplaced() {
    assertEquals("ü", Wire.cut("üü", 3));
    assertEquals("ok ?", Wire.cut("ok \ud800", 100));
    assertTrue(Wire.cut("ü".repeat(20_000), Wire.MAX_MESSAGE).getBytes(StandardCharsets.UTF_8).length <= Wire.MAX_MESSAGE);
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "3,4", "5,15", "99,15"})
  void aTriggerIsGivenBackWithADelayThatDoubles(int delivered, long seconds) {
    assertEquals("-NAK {\"delay\": " + seconds + "000000000}", Wire.giveBack(delivered));
  }

  @ParameterizedTest
  @CsvSource({"$JS.ACK.TRIG.any-billing.3.17.9.1767578400000000000.0,3,17", "$JS.ACK.hub.ACCT.TRIG.any-billing.2.7.7.1767578400000000000.0.rnd,2,7"})
  void deliveriesAreReadFromTheReplySubject(String reply, int count, long sequence) throws Garbage {
    assertEquals(new Delivery(count, sequence), Delivery.of(reply));
    assertEquals(sequence * 65536 + count, Delivery.of(reply).fence());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "$JS.ACK.TRIG.any-billing.x.17.9.1767578400000000000.0", "a.b.c.d.e.f.g.h.i.j"})
  void aReplySubjectThatIsNoneIsGarbage(String reply) {
    assertThrows(Garbage.class, () -> Delivery.of(reply));
  }

  @Test
  void aLongLineBecomesSeveralThatFit() {
    var lines = Lines.of("ü".repeat(40_000));
    assertTrue(lines.size() > 1 && lines.stream().allMatch(l -> l.getBytes(StandardCharsets.UTF_8).length <= Wire.MAX_LOG_TEXT));
    assertEquals("ü".repeat(40_000), String.join("", lines).replace("…", ""));
    assertTrue(lines.get(0).endsWith("…") && lines.get(lines.size() - 1).startsWith("…"));
  }

  @Test
  void aTextBecomesALineForEachOfItsLines() {
    assertEquals(List.of("a", "b", "", "c"), Lines.of("a\r\nb\n\nc"));
  }

  @Test
  void aRunWhoseTriggerHasNoTraceHasThatOfItsId() {
    String run = "019b8be1-f500-746c-9285-f6b4613a1707";
    assertEquals("00-019b8be1f500746c9285f6b4613a1707-71a8b91e65d3980d-01", Wire.fireTrace(run, 1));
    assertEquals("00-019b8be1f500746c9285f6b4613a1707-f54acda7068bb30d-01", Wire.fireTrace(run, 12));
  }
}
