package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;

/** A folder with the ends that NATS has not stored yet, so that they outlive a restart. */
final class Spool {
  private static final Logger LOG = Log.of(Executor.class);

  private final Path folder;

  /** A spool in a folder; null keeps nothing. */
  Spool(Path folder) {
    this.folder = folder;
    try {
      if (folder != null) {
        Files.createDirectories(folder, only("rwx------"));
      }
    } catch (IOException e) {
      throw new ConfigurationException("CARILLON_SPOOL " + folder + " must be a folder that can be made and written: " + e, e);
    }
  }

  /** Whether anything is kept. */
  boolean isKept() {
    return folder != null;
  }

  /** The permissions of files that hold tokens, where files have such. */
  private static FileAttribute<?>[] only(String permissions) {
    boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return posix ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))}
        : new FileAttribute<?>[0];
  }

  /** Writes an end to disk before it is published. It returns what to run once it is stored. */
  Runnable keep(String subject, Headers headers, byte[] data) {
    if (folder == null) {
      return () -> {};
    }
    ObjectNode kept = Json.object().put("subject", subject).put("data", new String(data, StandardCharsets.UTF_8));
    ObjectNode all = kept.putObject("headers");
    headers.forEach((name, values) -> all.put(name, values.get(0)));
    Path file = folder.resolve(Settings.random(12) + ".json");
    Path partial = folder.resolve(file.getFileName() + ".new");
    try (FileChannel out = FileChannel.open(partial, Set.<OpenOption>of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), only("rw-------"))) {
      out.write(ByteBuffer.wrap(Json.bytes(kept)));
      out.force(true);
      Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      LOG.warn("the spool {} does not take an end, which is kept in memory: {}", folder, e.toString());
      return () -> {};
    }
    return () -> remove(file);
  }

  /** What is in a file. */
  private record Kept(String subject, Headers headers, ObjectNode end) {}

  /** Publishes what an earlier life has left. */
  void report(Broker broker) throws InterruptedException {
    for (Path file : files()) {
      Kept kept = read(file);
      if (kept != null && broker.untilStored(kept.subject(), kept.headers(), () -> Report.fitted(kept.end(), broker.maxPayload()))) {
        remove(file);
      }
    }
  }

  /** What is in a file; null if that is no end, which is set aside. */
  private static Kept read(Path file) {
    try {
      JsonNode kept = Json.parse(Files.readAllBytes(file));
      JsonNode end = Json.parse(kept.path("data").asText().getBytes(StandardCharsets.UTF_8));
      if (!kept.path("subject").isTextual() || !end.isObject()) {
        throw new IOException("subject or data is missing");
      }
      Headers headers = new Headers();
      kept.path("headers").properties().forEach(h -> headers.put(h.getKey(), h.getValue().asText()));
      return new Kept(kept.get("subject").asText(), headers, (ObjectNode) end);
    } catch (IOException e) {
      LOG.warn("what is in {} is no end of a run, and set aside: {}", file, e.getMessage());
      file.toFile().renameTo(file.resolveSibling(file.getFileName() + ".refused").toFile());
      return null;
    }
  }

  private List<Path> files() {
    if (folder == null) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(f -> f.toString().endsWith(".json")).sorted().toList();
    } catch (IOException e) {
      LOG.warn("the spool {} cannot be read: {}", folder, e.toString());
      return List.of();
    }
  }

  private static void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("{} cannot be removed: {}; its end will be published again, which is harmless", file, e.toString());
    }
  }
}
