package io.carillon.executor;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import org.slf4j.LoggerFactory;

/**
 * Copies what any logger of Logback says during a run to the log of that run. Executors add one to
 * the root logger if there is none. A thread that a handler starts logs to the run if it gets the
 * handler's MDC. It has no lock, since a thread that waits until NATS takes its lines must not keep others from logging.
 */
public class RunLogAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
  private static final String NAME = "carillon";

  /** An appender that is not attached yet. */
  public RunLogAppender() {
    setName(NAME);
  }

  /** Adds an appender to the root logger, if it has none. */
  static synchronized void attach() {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    if (root.getAppender(NAME) == null) {
      RunLogAppender appender = new RunLogAppender();
      appender.setContext(context);
      appender.start();
      root.addAppender(appender);
    }
  }

  @Override
  protected void append(ILoggingEvent event) {
    LiveRun run = CurrentRun.of(event.getMDCPropertyMap());
    if (run == null || event.getLoggerName().startsWith("io.carillon.executor") || event.getLoggerName().startsWith("io.nats")) {
      return;
    }
    String text = event.getFormattedMessage();
    if (event.getThrowableProxy() instanceof ThrowableProxy p) {
      text += "\n" + RunLogger.trace(p.getThrowable());
    }
    run.write("log", levelOf(event.getLevel()), text);
  }

  private static String levelOf(Level level) {
    if (level.isGreaterOrEqual(Level.ERROR)) {
      return "error";
    }
    return level.isGreaterOrEqual(Level.WARN) ? "warn" : level.isGreaterOrEqual(Level.INFO) ? "info" : "debug";
  }
}
