package io.carillon.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.carillon.client.Client;
import io.carillon.executor.Handlers;
import io.carillon.executor.Interceptor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The client of an application, and its executor unless {@code carillon.enabled} is false. */
@AutoConfiguration(afterName = "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration")
@EnableConfigurationProperties(CarillonProperties.class)
class CarillonAutoConfiguration {
  /** Where handlers are registered; add to it in a bean of yours, or inject it into tests. */
  @Bean
  @ConditionalOnMissingBean
  Handlers carillonHandlers(ObjectProvider<ObjectMapper> mapper, ObjectProvider<Interceptor> interceptors) {
    ObjectMapper own = mapper.getIfAvailable();
    Handlers handlers = own == null ? new Handlers() : new Handlers(own);
    interceptors.orderedStream().forEach(handlers::intercept);
    return handlers;
  }

  /** What runs jobs from the code of the application. It sends nothing before it is used. */
  @Bean
  @ConditionalOnMissingBean
  Client carillonClient(CarillonProperties properties, ObjectProvider<ObjectMapper> mapper) {
    return properties.client(mapper.getIfAvailable());
  }

  @Bean
  CarillonJobs carillonJobs(ConfigurableListableBeanFactory beans, Handlers handlers) {
    return new CarillonJobs(beans, handlers);
  }

  @Bean
  @ConditionalOnProperty(name = "carillon.enabled", matchIfMissing = true)
  CarillonLifecycle carillonLifecycle(CarillonProperties properties, Handlers handlers, ObjectProvider<OptionsCustomizer> customizers) {
    return new CarillonLifecycle(properties, handlers, customizers.orderedStream().toList());
  }
}
