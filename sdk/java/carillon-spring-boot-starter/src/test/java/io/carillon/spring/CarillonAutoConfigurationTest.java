package io.carillon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.client.Client;
import io.carillon.client.ClientException;
import io.carillon.client.Memory;
import io.carillon.executor.Executor;
import io.carillon.executor.HandlerTest;
import io.carillon.executor.Handlers;
import io.carillon.executor.Interceptor;
import io.carillon.executor.Run;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

class CarillonAutoConfigurationTest {
  private final ApplicationContextRunner app = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, CarillonAutoConfiguration.class))
      .withPropertyValues("carillon.enabled=false");

  @Test
  void theClientIsABean() {
    app.withPropertyValues("carillon.server=https://carillon.example.com", "carillon.token=carillon_test").run(context ->
        assertThat(context).hasSingleBean(Client.class));
    app.withPropertyValues("carillon.server=ftp://carillon.example.com").run(context ->
        assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(ClientException.InvalidParams.class));
    Client own = new Memory().client();
    app.withBean(Client.class, () -> own).run(context -> assertThat(context.getBean(Client.class)).isSameAs(own));
  }

  record Report(String region, int rows) {}

  static class Jobs {
    @CarillonJob(value = "report", description = "Writes the report of a region")
    Map<String, Object> report(Report p, Run run) {
      run.log().info("begun {}", p.region());
      return Map.of("written", p.rows());
    }

    @CarillonJob("regions")
    List<String> regions(List<Report> reports) {
      return reports.stream().map(Report::region).toList();
    }

    @CarillonJob(value = "error", slots = 2)
    void error() {
      throw new NoClassDefFoundError("com/example/Gone");
    }

    @CarillonJob("fail")
    void fail() throws IOException {
      throw new IOException("disk full");
    }
  }

  static class AsyncJobs {
    @Async
    @CarillonJob("async")
    CompletableFuture<Map<String, Object>> async() {
      return CompletableFuture.completedFuture(Map.of("thread", Thread.currentThread().getName()));
    }
  }

  static class ForgottenJobs {
    @Async
    @CarillonJob("forgotten")
    void forgotten() {}
  }

  @EnableAsync
  @Configuration(proxyBeanMethods = false)
  static class Asynchronous {
    @Bean
    AsyncJobs asyncJobs() {
      return new AsyncJobs();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Forgotten {
    @Bean
    ForgottenJobs forgottenJobs() {
      return new ForgottenJobs();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Plain {
    @Bean
    Jobs jobs() {
      return new Jobs();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class LazyAndProxied {
    @Bean
    @Lazy
    Jobs jobs() {
      ProxyFactory proxy = new ProxyFactory(new Jobs());
      proxy.setProxyTargetClass(true);
      return (Jobs) proxy.getProxy();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Intercepted {
    @Bean
    Interceptor interceptor() {
      return (run, next) -> Map.of("intercepted", next.call());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class TooMany {
    @Bean
    Object jobs() {
      return new Object() {
        @CarillonJob("two")
        void two(String a, String b) {}
      };
    }
  }

  @Test
  void methodsOfBeansAreHandlers() {
    app.withUserConfiguration(Plain.class).run(context -> {
      Handlers handlers = context.getBean(Handlers.class);
      var end = HandlerTest.of(handlers).run("report", Map.of("region", "north", "rows", 3));
      assertThat(end.status()).isEqualTo("succeeded");
      assertThat(end.resultAs(Object.class)).isEqualTo(Map.of("written", 3));
      assertThat(end.lines()).containsExactly("begun north");
      assertThat(HandlerTest.of(handlers).run("regions", List.of(new Report("south", 1))).resultAs(Object.class)).isEqualTo(List.of("south"));
    });
  }

  @Test
  void whatAMethodThrowsIsTheMessage() {
    app.withUserConfiguration(Plain.class).run(context ->
        assertThat(HandlerTest.of(context.getBean(Handlers.class)).run("fail", null).message()).isEqualTo("IOException: disk full"));
  }

  @Test
  void anErrorOfAMethodKeepsItsText() {
    app.withUserConfiguration(Plain.class).run(context ->
        assertThat(HandlerTest.of(context.getBean(Handlers.class)).run("error", null).message()).contains("com/example/Gone"));
  }

  @Test
  void anAsyncMethodIsAwaited() {
    app.withUserConfiguration(Asynchronous.class).run(context -> {
      var end = HandlerTest.of(context.getBean(Handlers.class)).run("async", null);
      assertThat(end.status()).isEqualTo("succeeded");
      assertThat(end.result().get("thread").asText()).isNotEmpty().isNotEqualTo(Thread.currentThread().getName());
    });
  }

  @Test
  void anAsyncMethodThatNobodyCanAwaitIsRefused() {
    app.withUserConfiguration(Forgotten.class).run(context ->
        assertThat(context).getFailure().hasMessageContaining("@Async").hasMessageContaining("CompletableFuture"));
  }

  @Test
  void methodsOfLazyBeansBehindProxiesAreHandlers() {
    app.withUserConfiguration(LazyAndProxied.class).run(context ->
        assertThat(HandlerTest.of(context.getBean(Handlers.class)).run("report", Map.of("region", "north", "rows", 3)).status()).isEqualTo("succeeded"));
  }

  @Test
  void interceptorBeansAreAroundHandlers() {
    app.withUserConfiguration(Plain.class, Intercepted.class).run(context ->
        assertThat(HandlerTest.of(context.getBean(Handlers.class)).run("report", Map.of("region", "north", "rows", 3)).result().has("intercepted")).isTrue());
  }

  @Test
  void aMethodWithTooManyArgumentsIsRefused() {
    app.withUserConfiguration(TooMany.class).run(context ->
        assertThat(context).getFailure().hasMessageContaining("@CarillonJob").hasMessageContaining("two("));
  }

  @Test
  void aWrongSettingStopsTheStartAndIsNamed() {
    app.withPropertyValues("carillon.enabled=true", "carillon.group=Billing!").run(context ->
        assertThat(context).getFailure().rootCause().hasMessageContaining("Billing!"));
  }

  @Test
  void theExecutorStartsAndStopsWithTheContextThoughNatsIsAway() {
    app.withPropertyValues("carillon.enabled=true", "carillon.group=billing", "carillon.nats=nats://127.0.0.1:1", "carillon.slots=4",
        "carillon.grace=1s", "carillon.labels.zone=eu").withUserConfiguration(Plain.class).run(context -> {
          assertThat(context).hasNotFailed();
          assertThat(context.getBean(CarillonLifecycle.class).isRunning()).isTrue();
          assertThat(context.getBean(CarillonProperties.class).labels()).isEqualTo(Map.of("zone", "eu"));
          context.getBean(CarillonLifecycle.class).stop();
          assertThat(context.getBean(CarillonLifecycle.class).isRunning()).isFalse();
        });
  }

  @Test
  void aWrongSettingIsExplainedWithoutAStack() {
    app.withPropertyValues("carillon.enabled=true", "carillon.group=Billing!").run(context -> {
      var analysis = new CarillonFailureAnalyzer().analyze(context.getStartupFailure());
      assertThat(analysis.getDescription()).contains("group \"Billing!\" must be 1 to 63 of a-z 0-9");
      assertThat(analysis.getAction()).contains("carillon.*").contains("CARILLON_*");
      assertThat(SpringFactoriesLoader.forDefaultResourceLocation().load(FailureAnalyzer.class, FailureHandler.logging(LogFactory.getLog(getClass()))))
          .anyMatch(CarillonFailureAnalyzer.class::isInstance);
    });
  }

  private ApplicationContextRunner away() {
    return app.withPropertyValues("carillon.enabled=true", "carillon.group=billing", "carillon.instance=i", "carillon.nats=nats://127.0.0.1:1", "carillon.grace=1s")
        .withConfiguration(AutoConfigurations.of(CarillonHealthAutoConfiguration.class, CarillonMetricsAutoConfiguration.class));
  }

  @Test
  void healthIsDownWhileNatsIsAway() {
    away().run(context -> {
      var health = context.getBean(HealthIndicator.class).health();
      assertThat(health.getStatus()).isEqualTo(Status.DOWN);
      assertThat(health.getDetails().get("problem").toString()).contains("NATS");
    });
  }

  @Test
  void healthTellsWhatIsWrongOrThatTheExecutorTakesNoRuns() {
    assertThat(CarillonHealth.of(new Executor.Status("online", "", 32, 1))).isEqualTo(new CarillonHealth("UP", Map.of("state", "online", "slots", 32, "running", 1)));
    assertThat(CarillonHealth.of(new Executor.Status("cordoned", "", 32, 1)).code()).isEqualTo("OUT_OF_SERVICE");
    assertThat(CarillonHealth.of(new Executor.Status("online", "disconnected from NATS", 32, 1)).code()).isEqualTo("DOWN");
  }

  @Test
  void metricsAreInTheRegistryOfTheApplicationWhileItRuns() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    away().withBean(MeterRegistry.class, () -> registry).run(context ->
        assertThat(registry.get("carillon.executor.slots").tags("executor_group", "billing", "instance_name", "i").gauge().value()).isEqualTo(32));
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void withoutHealthAndMicrometerTheExecutorStarts() {
    away().withClassLoader(new FilteredClassLoader("io.micrometer", "org.springframework.boot.actuate", "org.springframework.boot.health"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(OptionsCustomizer.class));
  }
}
