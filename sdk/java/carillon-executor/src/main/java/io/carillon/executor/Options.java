package io.carillon.executor;

import io.micrometer.core.instrument.MeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * The settings of an executor. What is not set is read from the environment, from the variables that
 * {@code carillon executor} reads.
 */
public final class Options {
  String group = "";
  String nats = "";
  Path credentialFile;
  Path caFile;
  Path certFile;
  Path keyFile;
  String instance = "";
  int slots;
  Map<String, String> labels;
  Duration grace;
  Path spool;
  Path secretKeyFile;
  long maxLogLines;
  long maxLogBytes;
  String version = "";
  Metrics.Maker metrics;

  private Options() {}

  /** All from the environment. */
  public static Options fromEnvironment() {
    return new Options();
  }

  /** The executor group whose runs are done. Defaults to CARILLON_GROUP. */
  public Options group(String name) {
    group = name;
    return this;
  }

  /** URLs of NATS, with commas between. Defaults to CARILLON_NATS, and to nats://127.0.0.1:4222. */
  public Options nats(String urls) {
    nats = urls;
    return this;
  }

  /**
   * The file of {@code carillon credential create}. Defaults to CARILLON_CREDENTIAL_FILE. Without, the
   * text of CARILLON_CREDENTIAL is taken, which processes that you start would inherit.
   */
  public Options credentialFile(Path file) {
    credentialFile = file;
    return this;
  }

  /** Certificate authorities for NATS, in PEM. Defaults to CARILLON_NATS_CA. */
  public Options caFile(Path file) {
    caFile = file;
    return this;
  }

  /** A client certificate for NATS, in PEM. Defaults to CARILLON_NATS_CERT. */
  public Options certFile(Path file) {
    certFile = file;
    return this;
  }

  /** The key of the client certificate, in PEM (PKCS #8). Defaults to CARILLON_NATS_KEY. */
  public Options keyFile(Path file) {
    keyFile = file;
    return this;
  }

  /** A name that no other instance of the group has. Defaults to CARILLON_INSTANCE, or a random one. */
  public Options instance(String name) {
    instance = name;
    return this;
  }

  /** How many runs may be here at once. Defaults to CARILLON_SLOTS, and to 32. */
  public Options slots(int most) {
    slots = most;
    return this;
  }

  /** What tells this instance from others. Defaults to CARILLON_LABEL (zone=eu;disk=ssd). */
  public Options labels(Map<String, String> all) {
    labels = Map.copyOf(all);
    return this;
  }

  /** How long live runs may go on when the executor stops. Defaults to CARILLON_GRACE, and to 30 s. */
  public Options grace(Duration time) {
    grace = time;
    return this;
  }

  /** A folder for ends that NATS has not stored, so that they outlive a restart. Defaults to CARILLON_SPOOL. */
  public Options spool(Path folder) {
    spool = folder;
    return this;
  }

  /** The file with what {@code carillon secret key} prints. Defaults to CARILLON_SECRET_KEY_FILE. */
  public Options secretKeyFile(Path file) {
    secretKeyFile = file;
    return this;
  }

  /** How many lines an attempt may log. Defaults to CARILLON_MAX_LOG_LINES, and to 1,000,000. */
  public Options maxLogLines(long most) {
    maxLogLines = most;
    return this;
  }

  /** How many bytes an attempt may log. Defaults to CARILLON_MAX_LOG_BYTES, and to 64 MiB. */
  public Options maxLogBytes(long most) {
    maxLogBytes = most;
    return this;
  }

  /** Where metrics of the executor are registered, in the place of OpenTelemetry. Needs micrometer-core. */
  public Options meterRegistry(MeterRegistry registry) {
    metrics = (group, name, slots, inUse) -> new MicrometerMeters(registry, group, name, slots, inUse);
    return this;
  }

  /** The version of your program, which executor pages show. */
  public Options version(String text) {
    version = text;
    return this;
  }
}
