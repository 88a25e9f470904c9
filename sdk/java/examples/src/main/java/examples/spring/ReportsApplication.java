package examples.spring;

import io.carillon.executor.Run;
import io.carillon.spring.CarillonJob;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class ReportsApplication {
  public static void main(String[] args) {
    SpringApplication.run(ReportsApplication.class, args);
  }

  record Report(String region, int rows) {}

  @Component
  static class Reports {
    @CarillonJob(value = "report", description = "Writes the report of a region")
    Map<String, Integer> report(Report p, Run run) {
      run.log().info("begun {}", p.region());
      return Map.of("written", p.rows());
    }
  }
}
