package io.carillon.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The executor's health in Spring Boot 3. */
@AutoConfiguration(after = CarillonAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(CarillonLifecycle.class)
@ConditionalOnProperty(name = "management.health.carillon.enabled", matchIfMissing = true)
class CarillonHealthAutoConfiguration {
  @Bean
  HealthIndicator carillonHealthIndicator(CarillonLifecycle lifecycle) {
    return () -> {
      CarillonHealth now = CarillonHealth.of(lifecycle.status());
      return Health.status(now.code()).withDetails(now.details()).build();
    };
  }
}
