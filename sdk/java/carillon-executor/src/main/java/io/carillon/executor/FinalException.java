package io.carillon.executor;

/** Throw it when no attempt may follow, whatever the job's retry rule says. */
public class FinalException extends RunFailedException {
  /** An end with a message, which the run shows. */
  public FinalException(String message) {
    super(message);
  }

  /** An end with a message and what caused it. */
  public FinalException(String message, Throwable cause) {
    super(message, cause);
  }
}
