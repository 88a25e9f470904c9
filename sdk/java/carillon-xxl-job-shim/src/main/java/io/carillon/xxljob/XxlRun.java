package io.carillon.xxljob;

import com.fasterxml.jackson.databind.JsonNode;
import io.carillon.executor.Run;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** The run that {@link com.xxl.job.core.context.XxlJobHelper} is about, in the threads of its method. */
public final class XxlRun {
  // Threads that a method starts inherit it, so that they can log.
  private static final InheritableThreadLocal<XxlRun> CURRENT = new InheritableThreadLocal<>();

  private final Run run;
  private volatile String result;
  private volatile String failure;

  private XxlRun(Run run) {
    this.run = run;
  }

  /** What a method does. */
  interface Body {
    Object call() throws Exception;
  }

  /** The run whose method calls. */
  public static XxlRun current() {
    XxlRun current = CURRENT.get();
    if (current == null) {
      throw new IllegalStateException("XxlJobHelper knows the run only in the thread of a method with @XxlJob, and in threads that it starts");
    }
    return current;
  }

  /** Calls a method, and does what it said about its run. */
  static Object call(Run run, Body body) throws Exception {
    XxlRun current = new XxlRun(run);
    CURRENT.set(current);
    try {
      Object returned = body.call();
      if (current.failure != null) {
        throw new XxlFailure(current.failure);
      }
      return current.result != null ? current.result : returned;
    } finally {
      CURRENT.remove();
    }
  }

  /** A positive number of 31 bits, made of the job's name. */
  public long jobId() {
    CRC32 crc = new CRC32();
    crc.update(run.job().getBytes(StandardCharsets.UTF_8));
    return crc.getValue() & 0x7fffffff;
  }

  /** The job's parameter as text; null without. */
  public String param() {
    JsonNode params = run.params();
    if (params == null || params.isNull()) {
      return null;
    }
    return params.isTextual() ? params.asText() : params.toString();
  }

  /** Which piece this is. */
  public int shardIndex() {
    return run.piece().index();
  }

  /** How many pieces there are. */
  public int shardTotal() {
    return run.piece().total();
  }

  /** Writes a line to the run's log. */
  public boolean log(String pattern, Object... arguments) {
    run.log().info(pattern, arguments);
    return true;
  }

  /** Writes a stack trace to the run's log. */
  public boolean log(Throwable e) {
    run.log().error("", e);
    return true;
  }

  /** The run succeeds, with a message as its result, or null. */
  public boolean succeeded(String message) {
    failure = null;
    result = message;
    return true;
  }

  /** The run fails when the method has returned. */
  public boolean failed(String message) {
    failure = String.valueOf(message);
    return true;
  }
}
