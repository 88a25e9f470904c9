package io.carillon.xxljob;

import static org.assertj.core.api.Assertions.assertThat;

import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.handler.annotation.XxlJob;
import io.carillon.executor.HandlerTest;
import io.carillon.executor.Handlers;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class XxlJobAutoConfigurationTest {
  private static final AtomicBoolean SHUT = new AtomicBoolean();

  static class Jobs {
    @XxlJob(value = "demoJobHandler", destroy = "shut")
    public void demo() {
      XxlJobHelper.log("hello");
    }

    public void shut() {
      SHUT.set(true);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {
    @Bean
    Jobs jobs() {
      return new Jobs();
    }
  }

  @Test
  void methodsOfBeansAreHandlersAndAreDestroyedWithTheContext() {
    new ApplicationContextRunner().withUserConfiguration(App.class).withPropertyValues("carillon.enabled=false").run(context ->
        assertThat(HandlerTest.of(context.getBean(Handlers.class)).run("demoJobHandler", null).lines()).containsExactly("hello"));
    assertThat(SHUT).isTrue();
  }
}
