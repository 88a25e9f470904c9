package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLogger;

class LogTest {
  @Test
  void withoutAProviderTheExecutorLogsToStandardError() {
    PrintStream before = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    System.setErr(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      Log.orStandardError(NOPLogger.NOP_LOGGER).info("executor started: group {}", "g");
      Log.orStandardError(NOPLogger.NOP_LOGGER).debug("nothing");
    } finally {
      System.setErr(before);
    }
    String text = out.toString(StandardCharsets.UTF_8);
    assertTrue(text.matches("\\S+Z INFO carillon: executor started: group g\\R"), text);
  }

  @Test
  void aProviderIsUsed() {
    Logger logger = LoggerFactory.getLogger(LogTest.class);
    assertSame(logger, Log.orStandardError(logger));
  }
}
