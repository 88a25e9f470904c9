package io.carillon.xxljob;

import com.xxl.job.core.handler.annotation.XxlJob;
import io.carillon.executor.Handlers;
import io.carillon.spring.BeanMethods;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Registers the methods of beans that have {@link XxlJob}. */
@AutoConfiguration(afterName = "io.carillon.spring.CarillonAutoConfiguration")
class XxlJobAutoConfiguration {
  @Bean
  XxlJobs xxlJobs(Handlers handlers) {
    return new XxlJobs(handlers); // Spring closes it, after the executor has stopped
  }

  @Bean
  SmartInitializingSingleton xxlJobScan(ConfigurableListableBeanFactory beans, XxlJobs jobs) {
    return () -> BeanMethods.forEach(beans, XxlJob.class, jobs::add);
  }
}
