package examples.plain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.carillon.executor.HandlerTest;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportsTest {
  @Test
  void aReportIsWritten() {
    HandlerTest.End end = HandlerTest.of(Reports.handlers()).run("report", Map.of("region", "north", "rows", 3));
    assertEquals("succeeded", end.status());
    assertEquals(3, end.result().get("written").asInt());
    assertTrue(end.logged("begun north"));
  }

  @Test
  void anUnknownRegionIsNotTriedAgain() {
    assertTrue(HandlerTest.of(Reports.handlers()).run("report", Map.of("region", "mars", "rows", 1)).isFinal());
  }
}
