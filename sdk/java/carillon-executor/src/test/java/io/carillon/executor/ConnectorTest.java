package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ConnectorTest {
  @Test
  void anErrorOfNatsDoesNotShowTheSecretOfRequests() {
    assertEquals("Permissions Violation for Subscription to \"exec.billing.…\"",
        Connector.withoutSecret("Permissions Violation for Subscription to \"exec.billing.web1-4711-k3x9qa-K7MZQ2XWVN4BTRJD.*\""));
  }

  @Test
  void aRefusalSaysWhatToDo() {
    Options options = Options.fromEnvironment().group("billing");
    assertTrue(Connector.refusal(Settings.of(options, Map.of()))
        .contains("wants a credential: set CARILLON_CREDENTIAL_FILE; make one with: carillon credential create NAME -g billing"));
    assertTrue(Connector.refusal(Settings.of(options, Map.of("CARILLON_CREDENTIAL", "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY")))
        .contains("refuses the credential: is it for group billing, and not revoked?"));
  }
}
