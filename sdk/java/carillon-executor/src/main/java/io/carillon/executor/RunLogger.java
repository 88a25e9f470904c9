package io.carillon.executor;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Locale;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** A logger whose lines go to the log of one run. */
final class RunLogger extends LegacyAbstractLogger {
  private static final long serialVersionUID = 1;

  private final transient RunLog log;

  RunLogger(RunLog log, String runId) {
    this.log = log;
    this.name = "carillon.run." + runId;
  }

  @Override
  protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments, Throwable throwable) {
    String text = MessageFormatter.basicArrayFormat(pattern, arguments);
    log.write("log", levelOf(level), throwable == null ? text : text + "\n" + trace(throwable));
  }

  private static String levelOf(Level level) {
    return level == Level.TRACE ? "debug" : level.name().toLowerCase(Locale.ROOT);
  }

  /** A stack trace, without a line end at its end. */
  static String trace(Throwable t) {
    StringWriter out = new StringWriter();
    t.printStackTrace(new PrintWriter(out));
    return out.toString().stripTrailing();
  }

  @Override
  protected String getFullyQualifiedCallerName() {
    return null;
  }

  @Override
  public boolean isTraceEnabled() {
    return true;
  }

  @Override
  public boolean isDebugEnabled() {
    return true;
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
