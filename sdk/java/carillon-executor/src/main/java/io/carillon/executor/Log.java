package io.carillon.executor;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPLogger;

/** Loggers of the executor: those of SLF4J; of a program without a provider for it, standard error. */
final class Log {
  private Log() {}

  static Logger of(Class<?> name) {
    return orStandardError(LoggerFactory.getLogger(name));
  }

  static Logger orStandardError(Logger logger) {
    return logger instanceof NOPLogger ? new StandardError() : logger;
  }

  private static final class StandardError extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    @Override
    protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments, Throwable throwable) {
      Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
      System.err.println(now + " " + level + " carillon: " + MessageFormatter.basicArrayFormat(pattern, arguments));
      if (throwable != null) {
        throwable.printStackTrace();
      }
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return false;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }
  }
}
