package io.carillon.executor;

/** A message is no trigger of the group. */
final class Garbage extends Exception {
  Garbage(String message) {
    super(message);
  }

  Garbage(String message, Throwable cause) {
    super(message, cause);
  }
}
