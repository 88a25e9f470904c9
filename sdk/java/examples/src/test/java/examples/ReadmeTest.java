package examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReadmeTest {
  @ParameterizedTest
  @CsvSource({"../README.md,plain/Reports.java"})
  void theReadmeHasTheExample(Path readme, String example) throws IOException {
    String code = Files.readString(Path.of("src/main/java/examples", example));
    assertTrue(Files.readString(readme).contains(code.substring(code.indexOf("\npublic ") + 1)));
  }
}
