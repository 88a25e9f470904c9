package io.carillon.executor;

/**
 * Throw it to fail a run with a message that explains itself. The run shows the message alone; of
 * any other exception it shows the class, too, and the log has the stack trace.
 */
public class RunFailedException extends RuntimeException {
  /** A failure with a message, which the run shows. */
  public RunFailedException(String message) {
    super(message);
  }

  /** A failure with a message and what caused it. */
  public RunFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
