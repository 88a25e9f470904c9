package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** How busy the machine is, as far as its operating system tells. */
final class HostLoad {
  private HostLoad() {}

  /** The field {@code load} of a heartbeat. */
  static ObjectNode of() {
    ObjectNode load = Json.object().put("cpus", Runtime.getRuntime().availableProcessors());
    try { // Linux says it at once, the JVM only after many classes are loaded
      load.put("load1", Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]));
      long total = 0;
      for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
        String[] words = line.split("\\s+");
        if (words[0].equals("MemTotal:")) {
          total = Long.parseLong(words[1]) << 10;
        } else if (words[0].equals("MemAvailable:")) {
          load.put("memory_bytes", total).put("memory_used_bytes", total - (Long.parseLong(words[1]) << 10));
        }
      }
    } catch (IOException | RuntimeException e) {
      load.put("load1", Math.max(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), 0));
    }
    return load;
  }
}
