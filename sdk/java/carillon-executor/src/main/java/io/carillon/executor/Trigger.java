package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.regex.Pattern;

/** One attempt that was given to this executor, as its message says. */
record Trigger(ObjectNode raw, String token, String traceParent, Delivery delivery) {
  private static final Pattern RUN_ID = Pattern.compile("[0-9a-f-]{36}");
  private static final Pattern REPORT = Pattern.compile("evt\\.p[0-9]+\\.[^.]+");
  private static final List<String> COPIED =
      List.of("run_id", "job", "version", "shard", "attempt", "cause", "fire_time", "committed_at");

  /** Tells attempts apart. */
  record Key(String runId, int attempt, int index) {}

  /** Reads a trigger of the group. Everything that is read later is checked here. */
  static Trigger decode(byte[] data, Headers headers, String reply, String group) throws Garbage {
    JsonNode raw;
    try {
      raw = Json.parse(data);
    } catch (IOException e) {
      throw new Garbage("not JSON: " + e.getMessage(), e);
    }
    if (!(raw instanceof ObjectNode object)) {
      throw new Garbage("not an object");
    }
    Delivery delivery = Delivery.of(reply);
    if (!header(headers, Wire.PACK).isEmpty()) {
      delivery = delivery.later();
    }
    Trigger t = new Trigger(object, header(headers, Wire.TOKEN), header(headers, Wire.TRACE), delivery);
    t.check();
    if (!t.job().startsWith(group + "/")) {
      throw new Garbage("job " + t.job() + " is of another group");
    }
    return t;
  }

  /** A header's value; "" without. */
  static String header(Headers headers, String name) {
    String value = headers == null ? null : headers.getFirst(name);
    return value == null ? "" : value;
  }

  private void check() throws Garbage {
    require(raw.path("run_id").isTextual() && RUN_ID.matcher(runId()).matches(), "run_id is missing or wrong");
    require(job().chars().filter(c -> c == '/').count() == 1, "job is missing or wrong");
    require(whole("attempt", true, 1) && whole("broadcast_total", false, 0) && whole("broadcast_index", false, 0)
        && index() < Math.max(total(), 1), "attempt, broadcast_index or broadcast_total is missing or wrong");
    require(raw.path("task").isObject() && whole("shard", true, 0), "task or shard is missing or wrong");
    require(absentOr(task().path("secrets"), task().path("secrets").isObject()), "task.secrets must be an object");
    JsonNode retry = raw.path("retry");
    require(absentOr(retry, retry.isObject() && absentOr(retry.path("limit"), retry.path("limit").canConvertToInt())
        && absentOr(retry.path("on"), retry.path("on").isArray())), "retry is wrong");
    String group = job().split("/")[0];
    require(absentOr(raw.path("report"), REPORT.matcher(report()).matches() && report().endsWith("." + group)), "report must be evt.p<partition>." + group);
    for (String name : List.of("fire_time", "committed_at", "start_by", "end_by", "timeout", "warn_after")) {
      try {
        if (name.endsWith("_time") || name.endsWith("_at") || name.endsWith("_by")) {
          instant(name);
        } else {
          duration(name);
        }
      } catch (DateTimeException | IllegalArgumentException e) {
        throw new Garbage(name + ": " + e.getMessage(), e);
      }
    }
  }

  private static void require(boolean right, String otherwise) throws Garbage {
    if (!right) {
      throw new Garbage(otherwise);
    }
  }

  private static boolean absentOr(JsonNode node, boolean right) {
    return node.isMissingNode() || node.isNull() || right;
  }

  private boolean whole(String name, boolean required, int least) {
    JsonNode n = raw.path(name);
    return n.isMissingNode() ? !required : n.isIntegralNumber() && n.canConvertToInt() && n.intValue() >= least;
  }

  String runId() {
    return raw.path("run_id").asText();
  }

  String job() {
    return raw.path("job").asText();
  }

  int attempt() {
    return raw.path("attempt").intValue();
  }

  int index() {
    return raw.path("broadcast_index").intValue();
  }

  int total() {
    return raw.path("broadcast_total").intValue();
  }

  /** Where events of it go. */
  String eventSubject() {
    return "evt." + raw.get("shard").intValue() + "." + job().split("/")[0];
  }

  /** Where its end may go in a pack; "" if somebody waits for it. */
  String report() {
    return raw.path("report").asText("");
  }

  Key key() {
    return new Key(runId(), attempt(), index());
  }

  JsonNode task() {
    return raw.path("task");
  }

  /** The handler that it asks for; "" if it asks for something else. */
  String handler() {
    return task().path("handler").asText("");
  }

  boolean atMostOnce() {
    return raw.path("delivery").asText().equals("at_most_once");
  }

  boolean split() {
    return raw.path("split").asBoolean();
  }

  /** An instant of it; null without. */
  Instant instant(String name) {
    JsonNode n = raw.path(name);
    if (!n.isTextual() && !absentOr(n, false)) {
      throw new IllegalArgumentException(n + " must be an instant");
    }
    return n.asText("").isEmpty() || n.isNull() ? null : OffsetDateTime.parse(n.asText()).toInstant();
  }

  /** A duration of it; null without. */
  Duration duration(String name) {
    JsonNode n = raw.path(name);
    if (!n.isTextual() && !absentOr(n, false)) {
      throw new IllegalArgumentException(n + " must be a duration such as 90s");
    }
    Duration d = n.isTextual() ? Durations.parse(n.asText()) : Duration.ZERO;
    return d.isZero() ? null : d;
  }

  /** Whether the job's rule has another attempt follow such an end. */
  boolean again(String status) {
    JsonNode rule = raw.path("retry");
    if (attempt() > rule.path("limit").asInt(0)) {
      return false;
    }
    for (JsonNode on : rule.path("on")) {
      if (on.asText().equals(status)) {
        // A handler has no exit code, so a rule that names some is not about its failures.
        return !status.equals("failed") || rule.path("exit_codes").isEmpty();
      }
    }
    return false;
  }

  /** The id of an event, without what makes it unique further on. */
  String messageId(String kind) {
    String attempt = total() > 0 ? attempt() + "." + index() : String.valueOf(attempt());
    return runId() + ":" + attempt + ":" + kind;
  }

  /** The beginning of an event: what it copies from the trigger. */
  ObjectNode event(String kind, String instance, int delivered, Instant at) {
    ObjectNode e = Json.object().put("kind", kind);
    for (String name : COPIED) {
      if (raw.has(name)) {
        e.set(name, raw.get(name));
      }
    }
    addPiece(e);
    return e.put("instance", instance).put("delivery", delivered).put("at", Wire.instant(at));
  }

  /** Adds the piece to an event or to log lines. */
  void addPiece(ObjectNode to) {
    if (total() > 0) {
      to.put("broadcast_index", index()).put("broadcast_total", total());
    }
  }
}
