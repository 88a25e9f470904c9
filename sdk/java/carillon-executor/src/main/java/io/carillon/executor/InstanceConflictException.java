package io.carillon.executor;

/** Another instance of this name lives. The message says on which host. */
public class InstanceConflictException extends RuntimeException {
  InstanceConflictException(String message) {
    super(message);
  }
}
