package io.carillon.spring;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** The executor's metrics, in the application's registry of Micrometer. */
@AutoConfiguration(before = CarillonAutoConfiguration.class, afterName = {
  "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
  "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
})
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class CarillonMetricsAutoConfiguration {
  @Bean
  OptionsCustomizer carillonMetrics(MeterRegistry registry) {
    return options -> options.meterRegistry(registry);
  }
}
