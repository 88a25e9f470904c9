package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
  @ParameterizedTest
  @CsvSource({
    "CARILLON_GROUP,'',CARILLON_GROUP", "CARILLON_GROUP,Billing!,Billing!", "CARILLON_INSTANCE,Web 1,instance", "CARILLON_SLOTS,many,CARILLON_SLOTS",
    "CARILLON_SLOTS,0x,CARILLON_SLOTS", "CARILLON_SLOTS,20000,10000", "CARILLON_GRACE,30,CARILLON_GRACE", "CARILLON_LABEL,zone,CARILLON_LABEL",
    "CARILLON_CREDENTIAL_FILE,/nowhere,/nowhere", "CARILLON_CREDENTIAL,hunter2,carillon credential create",
    "CARILLON_SECRET_KEY,carillon-group-1.other.AAAA,carillon secret key -g g", "CARILLON_SECRET_KEY,carillon-group-1.g.*,not whole",
    "CARILLON_MAX_LOG_LINES,many,CARILLON_MAX_LOG_LINES", "CARILLON_MAX_LOG_BYTES,0,CARILLON_MAX_LOG_BYTES 0 must be 1 or more",
    "CARILLON_NATS_CERT,/cert,CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together", "CARILLON_NATS_KEY,/key,belong together",
    "CARILLON_SECRET_KEY_FILE,/dev/null,CARILLON_SECRET_KEY_FILE /dev/null is empty", "CARILLON_CREDENTIAL_FILE,/dev/null,/dev/null is empty"
  })
  void aWrongSettingIsNamed(String variable, String value, String named) {
    Map<String, String> env = variable.equals("CARILLON_GROUP") ? Map.of(variable, value) : Map.of("CARILLON_GROUP", "g", variable, value);
    var e = assertThrows(ConfigurationException.class, () -> Settings.of(Options.fromEnvironment(), env));
    assertTrue(e.getMessage().contains(named), e.getMessage());
  }

  @Test
  void labelsAndAVersionThatAHeartbeatHasNoRoomForAreRefused() {
    for (Options o : new Options[] {Options.fromEnvironment().labels(Map.of("zone", "x".repeat(8192))), Options.fromEnvironment().version("x".repeat(256))}) {
      var e = assertThrows(ConfigurationException.class, () -> Settings.of(o.group("g"), Map.of()));
      assertTrue(e.getMessage().contains(" bytes; at most "), e.getMessage());
    }
  }

  @Test
  void settingsComeFromOptionsThenFromTheEnvironment() {
    Map<String, String> env = Map.of("CARILLON_GROUP", "g", "CARILLON_SLOTS", "8", "CARILLON_LABEL", "zone=eu;disk=ssd", "CARILLON_GRACE", "1m");
    Settings s = Settings.of(Options.fromEnvironment().slots(4), env);
    assertEquals(4, s.slots());
    assertEquals(Map.of("zone", "eu", "disk", "ssd"), s.labels());
    assertEquals(Duration.ofMinutes(1), s.grace());
    assertEquals("nats://127.0.0.1:4222", s.nats());
    assertTrue(Wire.isSlug(s.instance()));
  }

  @Test
  void aProgramWithAWrongSettingEndsWithCode2AndWithoutAStackTrace() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    assertEquals(2, Executor.serve(Options.fromEnvironment().group("Billing!"), new Handlers(), new PrintStream(said, true, StandardCharsets.UTF_8)));
    assertEquals("carillon: group \"Billing!\" must be 1 to 63 of a-z 0-9 - _, the first a letter or digit\n", said.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aKeyIsReadFromItsFileAndNeverShown(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("seed"), "SUAGC3DWAXQZLTFOTVXUOOULFOGJ2GSYUZRF6DVDZWUXY7YD4QSHVFS3TU\n");
    var e = assertThrows(ConfigurationException.class,
        () -> Settings.of(Options.fromEnvironment().group("g").credentialFile(Files.writeString(folder.resolve("bad"), "SECRETSEED")), Map.of()));
    assertFalse(e.getMessage().contains("SECRETSEED"));
    assertTrue(Files.exists(file));
  }
}
