package io.carillon.executor;

/** The run has to end. {@link Run#check} throws it. */
public class RunEndedException extends RuntimeException {
  private final Ending ending;

  RunEndedException(Ending ending, String message) {
    super(message);
    this.ending = ending;
  }

  /** Why it has to end. */
  public Ending ending() {
    return ending;
  }
}
