package io.carillon.xxljob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.handler.IJobHandler;
import com.xxl.job.core.handler.annotation.XxlJob;
import io.carillon.executor.ConfigurationException;
import io.carillon.executor.HandlerTest;
import io.carillon.executor.Handlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class XxlJobsTest {
  private final List<String> called = new ArrayList<>();

  class Jobs {
    @XxlJob(value = "demoJobHandler", init = "open", destroy = "shut")
    public void demo() throws Exception {
      called.add("run");
      XxlJobHelper.log("hello {} of {}", "XXL-JOB", XxlJobHelper.getJobParam());
      Thread other = new Thread(() -> XxlJobHelper.log("piece {} of {}", XxlJobHelper.getShardIndex(), XxlJobHelper.getShardTotal()));
      other.start();
      other.join();
    }

    @XxlJob("result")
    public void result() {
      String[] codeAndMessage = XxlJobHelper.getJobParam().split(" ");
      XxlJobHelper.handleResult(Integer.parseInt(codeAndMessage[0]), codeAndMessage[1]);
    }

    @XxlJob("throw")
    public void broken() {
      XxlJobHelper.log(new IllegalStateException("first"));
      throw new IllegalStateException("no table");
    }

    private void open() {
      called.add("init");
    }

    private void shut() {
      called.add("destroy");
    }
  }

  private final Handlers handlers = new Handlers();
  private final XxlJobs jobs = new XxlJobs(handlers);

  @Test
  void aMethodRunsUnchanged() {
    jobs.add(new Jobs());
    var end = HandlerTest.of(handlers).piece(1, 3).run("demoJobHandler", "north");
    assertEquals("succeeded", end.status(), end.message());
    assertEquals(List.of("hello XXL-JOB of north", "piece 1 of 3"), end.lines());
    assertNull(end.result());
  }

  @Test
  void initIsCalledOnceBeforeTheFirstRunAndDestroyOnceAtTheEnd() {
    jobs.add(new Jobs());
    HandlerTest.of(handlers).run("demoJobHandler", null);
    HandlerTest.of(handlers).run("demoJobHandler", null);
    jobs.close();
    jobs.close();
    assertEquals(List.of("init", "run", "run", "destroy"), called);
  }

  @ParameterizedTest
  @CsvSource({"200,succeeded,''", "500,failed,broken", "502,failed,the handler reported a timeout: broken", "7,failed,broken"})
  void aCodeDecidesHowTheRunEnds(int code, String status, String message) {
    jobs.add(new Jobs());
    var end = HandlerTest.of(handlers).run("result", code + " broken");
    assertEquals(status, end.status());
    assertEquals(message, end.message());
    assertEquals(code == 200 ? "broken" : null, end.resultAs(String.class));
  }

  @Test
  void whatAMethodThrowsFailsTheRun() {
    jobs.add(new Jobs());
    var end = HandlerTest.of(handlers).run("throw", null);
    assertEquals("failed", end.status());
    assertEquals("IllegalStateException: no table", end.message());
    assertTrue(end.logged("IllegalStateException: first"));
  }

  @Test
  void aHandlerThatIsAClassRunsToo() {
    jobs.add("class", new IJobHandler() {
      @Override
      public void execute() {
        XxlJobHelper.handleSuccess(XxlJobHelper.getJobParam());
      }
    });
    assertEquals("{\"region\":\"north\"}", HandlerTest.of(handlers).run("class", Map.of("region", "north")).resultAs(String.class));
  }

  @Test
  void theIdOfAJobIsTheSameEachTimeAndPositive() {
    jobs.add("id", new IJobHandler() {
      @Override
      public void execute() {
        XxlJobHelper.handleSuccess(String.valueOf(XxlJobHelper.getJobId()));
      }
    });
    String id = HandlerTest.of(handlers).job("billing/a").run("id", null).resultAs(String.class);
    assertEquals(id, HandlerTest.of(handlers).job("billing/a").run("id", null).resultAs(String.class));
    assertTrue(Long.parseLong(id) > 0 && Long.parseLong(id) <= Integer.MAX_VALUE);
  }

  @Test
  void aMethodThatOverridesAnotherIsOneJob() {
    jobs.add(new Jobs() {
      @Override
      @XxlJob("throw")
      public void broken() {
        XxlJobHelper.log("mended");
      }
    });
    assertEquals(List.of("mended"), HandlerTest.of(handlers).run("throw", null).lines());
  }

  @Test
  void theHelperSaysWhereItWorks() {
    var e = assertThrows(IllegalStateException.class, XxlJobHelper::getJobParam);
    assertTrue(e.getMessage().contains("@XxlJob"));
  }

  @Test
  void anInitThatIsNotThereIsRefused() {
    var e = assertThrows(ConfigurationException.class, () -> jobs.add(new Object() {
      @XxlJob(value = "x", init = "opne")
      public void x() {}
    }));
    assertTrue(e.getMessage().contains("opne"));
  }
}
