package com.xxl.job.core.handler;

/** A handler that is a class. Register it by its name with {@link io.carillon.xxljob.XxlJobs}. */
public abstract class IJobHandler {
  /** Does one run. The parameter and the rest are in {@link com.xxl.job.core.context.XxlJobHelper}. */
  public abstract void execute() throws Exception;

  /** Is called once, before the first run. */
  public void init() throws Exception {}

  /** Is called once, when the program ends. */
  public void destroy() throws Exception {}
}
