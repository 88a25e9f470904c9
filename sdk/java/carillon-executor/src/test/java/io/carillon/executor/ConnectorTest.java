package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
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

  @Test
  void aCredentialOfAnotherGroupIsNamedInThePlaceOfAMissingServer() {
    Connector c = new Connector(Settings.of(Options.fromEnvironment().group("billing"), Map.of()), new CountDownLatch(1), (connection, event) -> { }, why -> { });
    assertEquals("the heartbeat is not stored (no answer): is a Carillon server running on this NATS?", c.whyNotStored("no answer"));
    c.errors().errorOccurred(null, "Permissions Violation for Publish to \"$KV.INST.billing.web1\"");
    assertTrue(c.whyNotStored("no answer").startsWith("the credential is not one of group billing: each credential is for one group; make one with: "));
  }
}
