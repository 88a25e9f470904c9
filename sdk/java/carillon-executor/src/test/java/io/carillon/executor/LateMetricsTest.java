package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LateMetricsTest {
  @BeforeEach
  @AfterEach
  void reset() {
    GlobalOpenTelemetry.resetForTest();
  }

  @Test
  void aProgramMaySetOpenTelemetryUpAfterTheExecutorHasStarted() {
    Metrics metrics = Metrics.of("billing", "i", () -> 7, () -> 0);
    InMemoryMetricReader reader = InMemoryMetricReader.create();
    GlobalOpenTelemetry.set(OpenTelemetrySdk.builder().setMeterProvider(SdkMeterProvider.builder().registerMetricReader(reader).build()).build());
    metrics.began();
    assertTrue(reader.collectAllMetrics().stream().anyMatch(m -> m.getName().equals("carillon.executor.slots")));
    metrics.close();
    assertTrue(reader.collectAllMetrics().isEmpty());
  }

  @Test
  void anOpenTelemetryThatIsTooOldDoesNotStopAnExecutor() throws Exception {
    Class<?> type = new WithoutHistograms().loadClass(Metrics.class.getName());
    IntSupplier none = () -> 0;
    Object metrics = call(type.getDeclaredMethod("of", String.class, String.class, IntSupplier.class, IntSupplier.class), null, "billing", "i", none, none);
    assertDoesNotThrow(() -> call(type.getDeclaredMethod("began"), metrics));
  }

  @Test
  void whatCannotBeMeasuredIsNoReasonForARunToFail() {
    AtomicInteger asked = new AtomicInteger();
    Metrics metrics = new LateMetrics(() -> new Metrics() {
      @Override
      void count(Count what, long n) {
        asked.incrementAndGet();
        throw new NoSuchMethodError("add");
      }
    });
    metrics.count(Metrics.Count.LOG_LINES_DROPPED, 1);
    metrics.count(Metrics.Count.LOG_LINES_DROPPED, 1);
    assertEquals(1, asked.get()); // nothing is measured any more
  }

  private static Object call(Method method, Object of, Object... arguments) throws ReflectiveOperationException {
    method.setAccessible(true);
    return method.invoke(of, arguments);
  }

  /** Loads the SDK anew, with an OpenTelemetry that lacks a class. */
  private static final class WithoutHistograms extends ClassLoader {
    WithoutHistograms() {
      super(LateMetricsTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals("io.opentelemetry.api.metrics.DoubleHistogramBuilder")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.startsWith("io.carillon.executor.")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? defined(name) : loaded;
    }

    private Class<?> defined(String name) throws ClassNotFoundException {
      try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] code = in.readAllBytes();
        return defineClass(name, code, 0, code.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
