package com.xxl.job.core.context;

import io.carillon.xxljob.XxlRun;

/** What a method with {@code @XxlJob} knows of its run, and says about it. */
public final class XxlJobHelper {
  private XxlJobHelper() {}

  /** A number that the job has on every executor. It is not the one that the job had in XXL-JOB. */
  public static long getJobId() {
    return XxlRun.current().jobId();
  }

  /** The job's parameter: a text as it is, anything else as JSON; null without. */
  public static String getJobParam() {
    return XxlRun.current().param();
  }

  /** Which piece of the run this is, from 0. */
  public static int getShardIndex() {
    return XxlRun.current().shardIndex();
  }

  /** How many pieces the run has; 1 without sharding. */
  public static int getShardTotal() {
    return XxlRun.current().shardTotal();
  }

  /** Writes a line to the run's log. Each {} of the pattern stands for an argument. */
  public static boolean log(String pattern, Object... arguments) {
    return XxlRun.current().log(pattern, arguments);
  }

  /** Writes a stack trace to the run's log. */
  public static boolean log(Throwable e) {
    return XxlRun.current().log(e);
  }

  /** Has the run succeed, which it does anyway. */
  public static boolean handleSuccess() {
    return XxlRun.current().succeeded(null);
  }

  /** Has the run succeed, with a message as its result. */
  public static boolean handleSuccess(String message) {
    return XxlRun.current().succeeded(message);
  }

  /** Has the run fail. */
  public static boolean handleFail() {
    return XxlRun.current().failed("the handler reported a failure");
  }

  /** Has the run fail, with a message. */
  public static boolean handleFail(String message) {
    return XxlRun.current().failed(message);
  }

  /** Has the run fail by a timeout that the method noticed by itself. */
  public static boolean handleTimeout() {
    return XxlRun.current().failed("the handler reported a timeout");
  }

  /** Has the run fail by a timeout that the method noticed by itself, with a message. */
  public static boolean handleTimeout(String message) {
    return XxlRun.current().failed("the handler reported a timeout: " + message);
  }

  /** Has the run end by a code: 200 is a success, 502 a timeout, anything else a failure. */
  public static boolean handleResult(int code, String message) {
    return switch (code) {
      case 200 -> handleSuccess(message);
      case 502 -> handleTimeout(message);
      default -> handleFail(message);
    };
  }
}
