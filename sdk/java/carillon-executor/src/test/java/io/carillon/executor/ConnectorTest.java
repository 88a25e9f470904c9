package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ConnectorTest {
  @Test
  void anErrorOfNatsDoesNotShowTheSecretOfRequests() {
    assertEquals("Permissions Violation for Subscription to \"exec.billing.…\"",
        Connector.withoutSecret("Permissions Violation for Subscription to \"exec.billing.web1-4711-k3x9qa-K7MZQ2XWVN4BTRJD.*\""));
  }
}
