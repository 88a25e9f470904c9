package io.carillon.spring;

import io.carillon.executor.ConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which setting or handler is wrong when an application cannot start because of it. */
class CarillonFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, ConfigurationException cause) {
    return new FailureAnalysis("Carillon's executor cannot start: " + cause.getMessage(),
        "Correct that setting (carillon.* of the application, or a variable CARILLON_*) or that method with @CarillonJob.", cause);
  }
}
