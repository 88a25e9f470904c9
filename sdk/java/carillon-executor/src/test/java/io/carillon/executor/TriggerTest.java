package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TriggerTest {
  private static final Path GOLDEN = Path.of("../../../bus/testdata");

  @ParameterizedTest
  @ValueSource(strings = {"no json", "[]", "{}", ""})
  void whatIsNoTriggerIsGarbage(String data) {
    assertThrows(Garbage.class, () -> Trigger.decode(data.getBytes(StandardCharsets.UTF_8), null, Triggers.REPLY, "billing"));
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "'job': 'other/a'", "'job': 'billing'", "'start_by': 'tomorrow'", "'end_by': 7", "'timeout': 'soon'", "'warn_after': '1x'", "'attempt': 0",
    "'attempt': true", "'attempt': '1'", "'broadcast_total': 2, 'broadcast_index': 2", "'broadcast_index': -1", "'retry': 3",
    "'retry': {'limit': '3'}", "'report': 'evt.p0.other'", "'report': 'evt.3.billing'", "'report': 7", "'fire_time': 'yesterday'", "'shard': -1", "'task': {'secrets': ['db']}", "'task': 7"
  })
  void aWrongFieldIsGarbageBeforeAnythingBegins(String more) {
    assertThrows(Garbage.class, () -> Triggers.of(more.replace('\'', '"')));
  }

  @ParameterizedTest
  @ValueSource(strings = {"trigger.json", "trigger-piece.json", "trigger-split.json"})
  void theGoldenTriggersAreRead(String name) throws Exception {
    byte[] data = Files.readAllBytes(GOLDEN.resolve(name));
    var raw = Json.parse(data);
    Trigger t = Trigger.decode(data, null, Triggers.REPLY, raw.get("job").asText().split("/")[0]);
    assertEquals(raw.get("committed_at"), t.event("started", "w1", 1, Instant.now()).get("committed_at"));
  }

  @Test
  void idsOfPiecesHaveTheirIndex() throws Garbage {
    String run = "019b8be1-f500-746c-9285-f6b4613a1707";
    assertEquals(run + ":1.0:finished", Triggers.of("\"broadcast_total\": 3").messageId("finished"));
    assertEquals(run + ":1:finished", Triggers.of("").messageId("finished"));
  }

  @ParameterizedTest
  @CsvSource({"1,failed,true", "1,timed_out,true", "1,succeeded,false", "2,failed,false"})
  void aRetryRuleSaysWhetherAnotherAttemptFollows(int attempt, String status, boolean again) throws Garbage {
    Trigger t = Triggers.of("\"attempt\": " + attempt + ", \"retry\": {\"limit\": 1, \"on\": [\"failed\", \"timed_out\"]}");
    assertEquals(again, t.again(status));
  }

  @Test
  void aRuleAboutExitCodesIsNotAboutHandlers() throws Garbage {
    assertEquals(false, Triggers.of("\"retry\": {\"limit\": 1, \"on\": [\"failed\"], \"exit_codes\": [3]}").again("failed"));
  }
}
