package examples.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.carillon.executor.HandlerTest;
import io.carillon.executor.Handlers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "carillon.enabled=false")
class ReportsApplicationTest {
  @Autowired Handlers handlers;

  @Test
  void aReportIsWritten() {
    var end = HandlerTest.of(handlers).run("report", Map.of("region", "north", "rows", 3));
    assertEquals("succeeded", end.status());
    assertEquals(3, end.result().get("written").asInt());
  }
}
