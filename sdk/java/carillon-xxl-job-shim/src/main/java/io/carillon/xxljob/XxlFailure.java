package io.carillon.xxljob;

import io.carillon.executor.RunFailedException;

/** A method has said by XxlJobHelper that its run failed. */
final class XxlFailure extends RunFailedException {
  private static final long serialVersionUID = 1;

  XxlFailure(String message) {
    super(message);
  }
}
