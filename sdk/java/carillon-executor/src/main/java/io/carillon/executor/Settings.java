package io.carillon.executor;

import io.nats.client.NKey;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Options that are complete and right. */
record Settings(String group, String nats, String credential, Tls tls, String instance, int slots,
    Map<String, String> labels, Duration grace, Path spool, Secrets.Key secretKey, long maxLogLines, long maxLogBytes, String version, Metrics.Maker metrics) {

  private static final SecureRandom RANDOM = new SecureRandom();

  /** Fills what is not set from the environment, and checks everything. */
  static Settings of(Options o, Map<String, String> env) {
    String group = slug("group", first(o.group, env.get("CARILLON_GROUP")), "set it, or the variable CARILLON_GROUP");
    String instance = slug("instance", first(o.instance, env.get("CARILLON_INSTANCE"), randomInstance()), "");
    long slots = o.slots != 0 ? o.slots : number(env, "CARILLON_SLOTS", 32);
    if (slots < 1 || slots > 10_000) {
      throw new ConfigurationException("slots " + slots + " must be between 1 and 10000");
    }
    Map<String, String> labels = o.labels != null ? o.labels : labels(env.getOrDefault("CARILLON_LABEL", ""));
    fits("labels", labels.toString().getBytes(StandardCharsets.UTF_8).length, Wire.MAX_LABELS);
    fits("version", o.version.getBytes(StandardCharsets.UTF_8).length, Wire.MAX_VERSION);
    Duration grace = o.grace != null ? o.grace : duration(env, "CARILLON_GRACE", Duration.ofSeconds(30));
    String credential = key(o.credentialFile, env, "CARILLON_CREDENTIAL");
    checkSeed(credential);
    String secretKey = key(o.secretKeyFile, env, "CARILLON_SECRET_KEY");
    return new Settings(group, first(o.nats, env.get("CARILLON_NATS"), "nats://127.0.0.1:4222"), credential,
        new Tls(o.caFile != null ? o.caFile : path(env, "CARILLON_NATS_CA"), o.certFile != null ? o.certFile : path(env, "CARILLON_NATS_CERT"),
            o.keyFile != null ? o.keyFile : path(env, "CARILLON_NATS_KEY")),
        instance, (int) slots, labels, grace,
        o.spool != null ? o.spool : path(env, "CARILLON_SPOOL"),
        secretKey.isEmpty() ? null : Secrets.Key.of(secretKey, group),
        limit(o.maxLogLines, env, "CARILLON_MAX_LOG_LINES", 1_000_000), limit(o.maxLogBytes, env, "CARILLON_MAX_LOG_BYTES", 64L << 20), o.version,
        o.metrics != null ? o.metrics : Metrics::of);
  }

  private static void fits(String name, int bytes, int most) {
    if (bytes > most) {
      throw new ConfigurationException(name + " has " + bytes + " bytes; at most " + most + " are allowed");
    }
  }

  private static String first(String... texts) {
    for (String text : texts) {
      if (text != null && !text.isBlank()) {
        return text.strip();
      }
    }
    return "";
  }

  private static String slug(String name, String value, String howToSet) {
    if (value.isEmpty()) {
      throw new ConfigurationException(name + " is missing: " + howToSet);
    }
    if (!Wire.isSlug(value)) {
      throw new ConfigurationException(name + " \"" + value + "\" must be 1 to 63 of a-z 0-9 - _, the first a letter or digit");
    }
    return value;
  }

  private static void checkSeed(String credential) {
    try {
      if (!credential.isEmpty()) {
        NKey.fromSeed(credential.toCharArray()).clear();
      }
    } catch (RuntimeException e) {
      throw new ConfigurationException("the credential is not the seed of an nkey: take the file that `carillon credential create` writes", e);
    }
  }

  /** A key from a file, from the one that VARIABLE_FILE names, or from the variable. */
  private static String key(Path option, Map<String, String> env, String variable) {
    Path file = option != null ? option : path(env, variable + "_FILE");
    try {
      String text = (file == null ? env.getOrDefault(variable, "") : Files.readString(file)).strip();
      if (file != null && text.isEmpty()) {
        throw new ConfigurationException(variable + "_FILE " + file + " is empty");
      }
      return text;
    } catch (IOException e) {
      throw new ConfigurationException(variable + "_FILE " + file + " cannot be read: " + e, e);
    }
  }

  private static Path path(Map<String, String> env, String variable) {
    String text = env.getOrDefault(variable, "");
    return text.isEmpty() ? null : Path.of(text);
  }

  private static long limit(long option, Map<String, String> env, String variable, long otherwise) {
    long most = option != 0 ? option : number(env, variable, otherwise);
    if (most < 1) {
      throw new ConfigurationException(variable + " " + most + " must be 1 or more");
    }
    return most;
  }

  private static long number(Map<String, String> env, String variable, long otherwise) {
    String text = env.getOrDefault(variable, "");
    try {
      return text.isEmpty() ? otherwise : Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new ConfigurationException(variable + " \"" + text + "\" must be a whole number", e);
    }
  }

  private static Duration duration(Map<String, String> env, String variable, Duration otherwise) {
    String text = env.getOrDefault(variable, "");
    try {
      return text.isEmpty() ? otherwise : Durations.parse(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException(variable + " " + e.getMessage(), e);
    }
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new TreeMap<>();
    for (String part : text.split(";")) {
      String[] pair = part.strip().split("=", 2);
      if (pair.length == 2) {
        labels.put(pair[0], pair[1]);
      } else if (!pair[0].isEmpty()) {
        throw new ConfigurationException("CARILLON_LABEL \"" + part + "\" must be KEY=VALUE");
      }
    }
    return labels;
  }

  static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "host"; // it has no name
    }
  }

  private static String randomInstance() {
    String host = host().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "-").replaceAll("^[-_]+", "");
    host = host.isEmpty() ? "host" : host.substring(0, Math.min(host.length(), 40));
    return host + "-" + ProcessHandle.current().pid() + "-" + random(3);
  }

  /** Random bytes, in hexadecimal. */
  static String random(int bytes) {
    byte[] data = new byte[bytes];
    RANDOM.nextBytes(data);
    return HexFormat.of().formatHex(data);
  }

  /** Without the secrets, as a record shows its fields. */
  @Override
  public String toString() {
    return "Settings[" + group + "/" + instance + " at " + nats + "]";
  }
}
