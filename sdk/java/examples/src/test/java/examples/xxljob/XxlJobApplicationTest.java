package examples.xxljob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.carillon.executor.HandlerTest;
import io.carillon.executor.Handlers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "carillon.enabled=false")
class XxlJobApplicationTest {
  @Autowired Handlers handlers;

  @Test
  void aJobLogsItsParameter() {
    assertEquals(List.of("begun north"), HandlerTest.of(handlers).run("demoJobHandler", "north").lines());
  }

  @Test
  void aShardedJobNeedsTwoPieces() {
    assertEquals("failed", HandlerTest.of(handlers).run("shardingJobHandler", null).status());
    assertEquals("succeeded", HandlerTest.of(handlers).piece(1, 2).run("shardingJobHandler", null).status());
  }
}
