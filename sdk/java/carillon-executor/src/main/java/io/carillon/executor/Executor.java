package io.carillon.executor;

import java.io.PrintStream;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Does the runs of one executor group, until it is closed.
 *
 * <p>{@link #run} is all that a program needs that does nothing else. {@link #connect} is for programs
 * that have a life of their own.
 */
public final class Executor implements AutoCloseable {
  private final Instance instance;

  private Executor(Instance instance) {
    this.instance = instance;
  }

  /**
   * Connects to NATS and does runs, in the background. It returns at once, and keeps trying while NATS
   * is away or refuses the credential.
   *
   * @throws ConfigurationException if a setting is wrong
   */
  public static Executor connect(Options options, Handlers handlers) {
    Capture.start();
    handlers.checkNames();
    Executor executor = new Executor(new Instance(Settings.of(options, System.getenv()), handlers));
    executor.instance.begin();
    return executor;
  }

  /**
   * Does runs until SIGTERM or SIGINT, or until somebody drains this instance. Then it lets live runs
   * end, for a while, gives the rest back, and returns. A second signal gives them back at once.
   *
   * <p>For the main method of a program: if a setting is wrong, or another instance of this name
   * lives, it says so on standard error, and the program ends with exit code 2.
   */
  public static void run(Options options, Handlers handlers) {
    int code = serve(options, handlers, System.err);
    if (code != 0) {
      System.exit(code);
    }
  }

  /** Does what run does, and returns an exit code. */
  static int serve(Options options, Handlers handlers, PrintStream errors) {
    try {
      serve(options, handlers);
      return 0;
    } catch (ConfigurationException | InstanceConflictException e) {
      errors.println("carillon: " + e.getMessage());
      return 2;
    }
  }

  private static void serve(Options options, Handlers handlers) {
    try (Executor executor = connect(options, handlers)) {
      AtomicBoolean stopped = new AtomicBoolean();
      Signals.onStop(() -> {
        if (stopped.getAndSet(true)) {
          executor.instance.hurry();
        } else {
          executor.close();
        }
      });
      executor.await();
    }
  }

  /**
   * Waits until the executor has stopped, because it was closed or drained.
   *
   * @throws InstanceConflictException if another instance of this name lives
   */
  public void await() {
    try {
      instance.ended().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof InstanceConflictException conflict) {
        throw conflict;
      }
      throw e;
    }
  }

  /**
   * How an executor is.
   *
   * @param state online, draining, cordoned or stopped
   * @param problem why no runs come here, such as a NATS that is away or refuses the credential; "" if nothing is wrong
   * @param slots how many runs there may be at once
   * @param running how many there are
   */
  public record Status(String state, String problem, int slots, int running) {}

  /** How the executor is now. Any thread may ask. */
  public Status status() {
    return instance.status();
  }

  /** Lets live runs end, for a while, gives the rest back, and returns. */
  @Override
  public void close() {
    instance.stop();
    instance.ended().handle((nothing, error) -> nothing).join();
  }
}
