package io.carillon.xxljob;

import com.fasterxml.jackson.databind.JsonNode;
import com.xxl.job.core.handler.IJobHandler;
import com.xxl.job.core.handler.annotation.XxlJob;
import io.carillon.executor.ConfigurationException;
import io.carillon.executor.Handlers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers handlers that were written for XXL-JOB. Close it when the executor has stopped: it calls
 * their methods {@code destroy}.
 *
 * <pre>{@code
 * Handlers handlers = new Handlers();
 * try (XxlJobs jobs = new XxlJobs(handlers)) {
 *   jobs.add(new SampleJobs());
 *   Executor.run(Options.fromEnvironment(), handlers);
 * }
 * }</pre>
 */
public final class XxlJobs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(XxlJobs.class);

  private final Handlers handlers;
  private final List<Lifecycle> lives = new ArrayList<>();

  /** Jobs that are registered with these handlers. */
  public XxlJobs(Handlers handlers) {
    this.handlers = handlers;
  }

  /** Registers all methods of an object that have {@code @XxlJob}. */
  public XxlJobs add(Object jobs) {
    Set<String> seen = new HashSet<>(); // a method that another one overrides is the same job
    for (Class<?> c = jobs.getClass(); c != Object.class; c = c.getSuperclass()) {
      for (Method method : c.getDeclaredMethods()) {
        if (method.isAnnotationPresent(XxlJob.class) && seen.add(method.getName())) {
          add(jobs, method, method.getAnnotation(XxlJob.class));
        }
      }
    }
    return this;
  }

  /** Registers one method of an object. */
  public void add(Object of, Method method, XxlJob job) {
    if (method.getParameterCount() > 0) {
      throw new ConfigurationException("@XxlJob method " + method + " must take no arguments: read the parameter by XxlJobHelper.getJobParam()");
    }
    register(job.value(), () -> invoke(of, method), step(of, job.init()), step(of, job.destroy()));
  }

  /** Registers a handler that is a class. */
  public XxlJobs add(String name, IJobHandler handler) {
    register(name, () -> {
      handler.execute();
      return null;
    }, handler::init, handler::destroy);
    return this;
  }

  private void register(String name, XxlRun.Body body, Step init, Step destroy) {
    Lifecycle life = new Lifecycle(name, init, destroy);
    lives.add(life);
    handlers.register(name, JsonNode.class, Object.class, (run, params) -> XxlRun.call(run, () -> {
      life.begin();
      return body.call();
    }));
  }

  /** Calls all methods {@code destroy} of handlers that have done a run. */
  @Override
  public void close() {
    lives.forEach(Lifecycle::end);
  }

  /** A method init or destroy. */
  private interface Step {
    void call() throws Exception;
  }

  private static Step step(Object of, String name) {
    if (name.isEmpty()) {
      return () -> {};
    }
    for (Class<?> c = of.getClass(); c != null; c = c.getSuperclass()) {
      for (Method m : c.getDeclaredMethods()) {
        if (m.getName().equals(name) && m.getParameterCount() == 0) {
          return () -> invoke(of, m);
        }
      }
    }
    throw new ConfigurationException("@XxlJob names the method " + name + ", which " + of.getClass().getName() + " does not have without arguments");
  }

  private static Object invoke(Object of, Method method) throws Exception {
    method.setAccessible(true);
    try {
      return method.invoke(of);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** Calls init once, before the first run, and destroy once, if there was one. */
  private static final class Lifecycle {
    private final String name;
    private final Step init;
    private final Step destroy;
    private boolean begun; // guarded by this

    private Lifecycle(String name, Step init, Step destroy) {
      this.name = name;
      this.init = init;
      this.destroy = destroy;
    }

    private synchronized void begin() throws Exception {
      if (!begun) {
        init.call(); // if it throws, the run fails, and the next one tries again
        begun = true;
      }
    }

    private synchronized void end() {
      if (begun) {
        begun = false;
        try {
          destroy.call();
        } catch (Exception e) {
          LOG.warn("destroy of handler {} failed", name, e);
        }
      }
    }
  }
}
