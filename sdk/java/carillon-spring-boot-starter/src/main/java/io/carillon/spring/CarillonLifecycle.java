package io.carillon.spring;

import io.carillon.executor.Executor;
import io.carillon.executor.Handlers;
import io.carillon.executor.InstanceConflictException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the executor when everything else has started, and stops it before anything else stops, so
 * that live runs still have their beans.
 */
final class CarillonLifecycle implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(CarillonLifecycle.class);

  private final CarillonProperties properties;
  private final Handlers handlers;
  private volatile Executor executor;

  CarillonLifecycle(CarillonProperties properties, Handlers handlers) {
    this.properties = properties;
    this.handlers = handlers;
  }

  @Override
  public void start() {
    Executor started = Executor.connect(properties.options(), handlers);
    executor = started;
    Thread watch = new Thread(() -> watch(started), "carillon-watch");
    watch.setDaemon(true);
    watch.start();
  }

  /** Says so if the executor ends while the application goes on. */
  private void watch(Executor started) {
    try {
      started.await();
      if (executor == started) {
        LOG.warn("the executor was drained; the application goes on without it");
      }
    } catch (InstanceConflictException e) {
      LOG.error("the application does no runs: {}", e.getMessage());
    }
  }

  /** Lets live runs end. It takes as long as {@code carillon.grace} allows, and a little more. */
  @Override
  public void stop() {
    Executor stopped = executor;
    executor = null;
    stopped.close();
  }

  @Override
  public boolean isRunning() {
    return executor != null;
  }
}
