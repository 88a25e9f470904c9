package io.carillon.executor;

/** A setting or a registration is wrong. The message names it and says what would be right. */
public class ConfigurationException extends RuntimeException {
  ConfigurationException(String message) {
    super(message);
  }

  ConfigurationException(String message, Throwable cause) {
    super(message, cause);
  }
}
