package io.carillon.executor;

import org.slf4j.LoggerFactory;

/** Has the lines of all loggers during a run go to the run's log, where Logback is the logger. */
final class Capture {
  private Capture() {}

  static void start() {
    if (LoggerFactory.getILoggerFactory().getClass().getName().equals("ch.qos.logback.classic.LoggerContext")) {
      RunLogAppender.attach(); // loaded only now, since its superclass may be absent
    }
  }
}
