package io.carillon.executor;

/** A setting or a registration is wrong. The message names it and says what would be right. */
public class ConfigurationException extends RuntimeException {
  /** A message that names what is wrong, and says what would be right. */
  public ConfigurationException(String message) {
    super(message);
  }

  ConfigurationException(String message, Throwable cause) {
    super(message, cause);
  }
}
