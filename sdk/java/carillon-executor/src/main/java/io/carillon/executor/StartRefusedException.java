package io.carillon.executor;

/** A run was not started. {@link Run#start} throws it. */
public class StartRefusedException extends RuntimeException {
  private final String kind;

  StartRefusedException(String kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** {@code invalid}, {@code not_found}, {@code conflict}, {@code too_many} or {@code unavailable}. */
  public String kind() {
    return kind;
  }
}
