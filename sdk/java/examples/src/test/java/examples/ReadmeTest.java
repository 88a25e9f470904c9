package examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReadmeTest {
  @ParameterizedTest
  @CsvSource({
    "../README.md,plain/Reports.java", "../carillon-spring-boot-starter/README.md,spring/ReportsApplication.java",
    "../carillon-xxl-job-shim/README.md,xxljob/XxlJobApplication.java"
  })
  void theFirstJavaOfTheReadmeIsInTheExample(Path readme, String example) throws IOException {
    String code = Files.readString(readme).split("```java\n")[1].split("```")[0];
    assertTrue(Files.readString(Path.of("src/main/java/examples", example)).contains(code));
  }
}
