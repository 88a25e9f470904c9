package io.carillon.spring;

import io.carillon.executor.Options;

/** Beans of this type change the executor's options, after the settings {@code carillon.*}. */
@FunctionalInterface
public interface OptionsCustomizer {
  /** Changes options. */
  void customize(Options options);
}
