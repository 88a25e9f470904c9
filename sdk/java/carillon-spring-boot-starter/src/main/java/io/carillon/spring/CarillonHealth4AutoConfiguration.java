package io.carillon.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The executor's health in Spring Boot 4. */
@AutoConfiguration(after = CarillonAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(CarillonLifecycle.class)
@ConditionalOnProperty(name = "management.health.carillon.enabled", matchIfMissing = true)
class CarillonHealth4AutoConfiguration {
  @Bean
  HealthIndicator carillonHealthIndicator(CarillonLifecycle lifecycle) {
    return () -> {
      CarillonHealth now = CarillonHealth.of(lifecycle.status());
      return Health.status(now.code()).withDetails(now.details()).build();
    };
  }
}
