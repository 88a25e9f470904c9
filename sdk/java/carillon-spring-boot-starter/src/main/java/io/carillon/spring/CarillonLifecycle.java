package io.carillon.spring;

import io.carillon.executor.Executor;
import io.carillon.executor.Handlers;
import io.carillon.executor.InstanceConflictException;
import io.carillon.executor.Options;
import java.util.List;
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
  private final List<OptionsCustomizer> customizers;
  private volatile Executor executor;

  CarillonLifecycle(CarillonProperties properties, Handlers handlers, List<OptionsCustomizer> customizers) {
    this.properties = properties;
    this.handlers = handlers;
    this.customizers = customizers;
  }

  @Override
  public void start() {
    Options options = properties.options();
    customizers.forEach(c -> c.customize(options));
    Executor started = Executor.connect(options, handlers);
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

  /** How the executor is. */
  Executor.Status status() {
    Executor now = executor;
    return now == null ? new Executor.Status("stopped", "the executor is not started", 0, 0) : now.status();
  }

  @Override
  public boolean isRunning() {
    return executor != null;
  }
}
