package io.carillon.xxljob;

/** A method has said by XxlJobHelper that its run failed. */
final class XxlFailure extends Exception {
  private static final long serialVersionUID = 1;

  XxlFailure(String message) {
    super(message, null, false, false); // its stack tells nothing
  }
}
