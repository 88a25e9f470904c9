package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Requests to this instance: run, kill, drain and the others. The loop answers them. */
final class Requests {
  private static final int MAX_CONSUMERS = 64;
  private static final Pattern CONSUMER = Pattern.compile("[A-Za-z0-9_-]{1,128}");
  private static final List<String> OTHER_KINDS = List.of("shell", "command", "http", "script");

  private final Instance of;
  private final String subject;

  /** A request that makes no sense. */
  private static final class Invalid extends Exception {
    private static final long serialVersionUID = 1;

    Invalid(String message) {
      super(message);
    }
  }

  Requests(Instance of, String secret) {
    this.of = of;
    this.subject = "exec." + of.settings.group() + "." + of.settings.instance() + "-" + secret + ".";
  }

  void listen() {
    of.broker.listen(subject + "*", m -> of.onLoop(() -> hear(m)));
  }

  void hear(Message m) {
    if (!m.getSubject().startsWith(subject) || m.getReplyTo() == null || isForged(m.getHeaders())) {
      return;
    }
    ObjectNode answer = Json.object();
    try {
      ObjectNode value = answer.putObject("value").put("instance", of.settings.instance()).put("answer", "accepted");
      act(m.getSubject().substring(subject.length()), m, value);
      of.runs.describe(value);
    } catch (Invalid | Garbage | IOException | IllegalArgumentException e) {
      answer.removeAll().putObject("fault").put("kind", "invalid").put("text", String.valueOf(e.getMessage()));
    }
    of.broker.publish(m.getReplyTo(), null, null, Json.bytes(answer));
  }

  /** Whether JetStream may have sent it, or it is no request. */
  private static boolean isForged(Headers headers) {
    if (!Trigger.header(headers, Wire.MESSAGE).equals("request.v1")) {
      return true;
    }
    return headers.keySet().stream().map(name -> name.toLowerCase(Locale.ROOT))
        .anyMatch(name -> name.startsWith("nats-") && !name.equals("nats-request-info"));
  }

  private void act(String verb, Message m, ObjectNode value) throws Invalid, Garbage, IOException {
    switch (verb) {
      case "run" -> run(m, value);
      case "beat" -> onlyOnline(value);
      case "idle" -> idle(body(m), value);
      case "drain" -> of.runs.drain(within(body(m)));
      case "cordon" -> of.runs.cordon();
      case "uncordon" -> {
        if (!of.runs.uncordon()) {
          value.put("answer", "draining").put("detail", "it is stopping");
        }
      }
      case "set" -> set(body(m));
      case "attempts" -> attempts(body(m), value);
      case "kill" -> kill(body(m), value);
      case "consumers" -> of.pullFrom(consumers(body(m)));
      case "refused" -> refused(body(m));
      default -> throw new Invalid("verb \"" + verb + "\" is not known");
    }
  }

  private static JsonNode body(Message m) throws IOException, Invalid {
    JsonNode body = m.getData() == null || m.getData().length == 0 ? Json.object() : Json.parse(m.getData());
    if (!body.isObject()) {
      throw new Invalid("the body must be an object");
    }
    return body;
  }

  private boolean onlyOnline(ObjectNode value) {
    if (of.runs.state() != State.ONLINE) {
      value.put("answer", of.runs.state().word());
    }
    return of.runs.state() == State.ONLINE;
  }

  /** For how many seconds a run wants the instance for itself. */
  private static int alone(String text) throws Invalid {
    if (!text.isEmpty() && !text.matches("[1-9][0-9]{0,3}") || !text.isEmpty() && Integer.parseInt(text) > 3600) {
      throw new Invalid(Wire.ALONE + " \"" + text + "\" must be a number of seconds from 1 to 3600");
    }
    return text.isEmpty() ? 0 : Integer.parseInt(text);
  }

  private void run(Message m, ObjectNode value) throws Garbage, Invalid {
    Headers headers = m.getHeaders();
    String ack = Trigger.header(headers, Wire.ACK);
    Trigger t = Trigger.decode(m.getData(), headers, ack, of.settings.group());
    if (of.runs.isKnown(t, ack)) {
      return;
    }
    if (!Trigger.header(headers, Wire.RESUME).isEmpty()) {
      value.put("answer", "gone");
    } else if (OTHER_KINDS.stream().anyMatch(t.task()::hasNonNull)) {
      value.put("answer", "unknown_kind").put("detail", "this executor runs handlers");
    } else if (!of.handlers.all().containsKey(t.handler())) {
      value.put("answer", "unknown_handler").put("detail", "handlers here: " + String.join(", ", of.handlers.all().keySet()));
    } else if (onlyOnline(value)) {
      int alone = alone(Trigger.header(headers, Wire.ALONE));
      if (of.runs.hasRoomFor(t, ack, alone)) {
        of.runs.leaveAlone(t, alone);
        of.runs.start(t, ack, Trigger.header(headers, Wire.ROUTE_REASON));
      } else {
        value.put("answer", "busy");
      }
    }
  }

  private void idle(JsonNode body, ObjectNode value) {
    if (onlyOnline(value) && (of.runs.free() < 1 || of.runs.runs(body.path("job").asText()))) {
      value.put("answer", "busy");
    }
  }

  private static Duration within(JsonNode body) throws Invalid {
    JsonNode within = body.path("within");
    if (within.isMissingNode() || within.isNull()) {
      return null;
    }
    if (!within.isTextual()) {
      throw new Invalid("within must be a duration such as 30m");
    }
    return Durations.parse(within.asText());
  }

  private void set(JsonNode body) throws Invalid {
    JsonNode slots = body.path("slots");
    if (body.hasNonNull("slots") && !(slots.isInt() && slots.intValue() >= 1 && slots.intValue() <= 10_000)) {
      throw new Invalid("slots " + slots + " must be between 1 and 10000");
    }
    Map<String, String> labels = new TreeMap<>();
    if (body.hasNonNull("labels")) {
      for (Map.Entry<String, JsonNode> label : body.get("labels").properties()) {
        if (!label.getValue().isTextual()) {
          throw new Invalid("labels must be an object of texts");
        }
        labels.put(label.getKey(), label.getValue().asText());
      }
      if (!body.get("labels").isObject()) {
        throw new Invalid("labels must be an object of texts");
      }
    }
    if (Json.bytes(body.path("labels")).length > Wire.MAX_LABELS) {
      throw new Invalid("labels must have at most " + Wire.MAX_LABELS + " bytes");
    }
    of.runs.set(body.hasNonNull("slots") ? slots.intValue() : null, body.hasNonNull("labels") ? labels : null);
  }

  private static List<Puller.Name> consumers(JsonNode body) throws Invalid {
    JsonNode given = body.path("consumers");
    if (!given.isArray() || given.isEmpty() || given.size() > MAX_CONSUMERS) {
      throw new Invalid("consumers must be a list of 1 to " + MAX_CONSUMERS);
    }
    List<Puller.Name> names = new ArrayList<>();
    for (JsonNode c : given) {
      Puller.Name name = new Puller.Name(c.path("stream").asText(), c.path("consumer").asText());
      if (!CONSUMER.matcher(name.stream()).matches() || !CONSUMER.matcher(name.consumer()).matches()) {
        throw new Invalid("each of consumers needs stream and consumer: 1 to 128 letters, digits, hyphens and underscores");
      }
      if (names.contains(name)) {
        throw new Invalid("consumers: consumer " + name.consumer() + " of " + name.stream() + " is there twice");
      }
      names.add(name);
    }
    return names;
  }

  private void refused(JsonNode body) throws Invalid {
    ObjectNode refusal = Json.object();
    for (String field : List.of("stream", "subject", "reason", "at")) {
      if (!body.path(field).isTextual()) {
        throw new Invalid("a refusal needs " + field);
      }
      refusal.put(field, body.get(field).asText());
    }
    if (!body.path("sequence").isIntegralNumber()) {
      throw new Invalid("a refusal needs sequence");
    }
    of.refusedBy(refusal.put("sequence", body.get("sequence").asLong()));
  }

  private void attempts(JsonNode body, ObjectNode value) throws Invalid {
    ArrayNode words = value.putArray("attempts");
    if (body.has("attempts") && !body.get("attempts").isArray()) {
      throw new Invalid("attempts must be a list");
    }
    for (JsonNode a : body.path("attempts")) {
      if (!a.path("run_id").isTextual() || !a.path("attempt").isInt()) {
        throw new Invalid("an attempt needs run_id and attempt");
      }
      words.add(of.runs.custody(new Trigger.Key(a.get("run_id").asText(), a.get("attempt").intValue(), a.path("broadcast_index").asInt())));
    }
  }

  private void kill(JsonNode body, ObjectNode value) throws Invalid {
    if (!body.path("run_id").isTextual()) {
      throw new Invalid("run_id is missing");
    }
    String why = body.path("reason").asText("");
    String text = "cancelled by " + body.path("by").asText("somebody") + (why.isEmpty() ? "" : ": " + why);
    List<Attempt> found = of.runs.kill(body.get("run_id").asText(), text);
    if (found.isEmpty()) {
      value.put("answer", "gone");
    }
    found.stream().map(Attempt::trigger).filter(t -> t.total() > 0).map(Trigger::index).sorted().forEach(value.withArray("pieces")::add);
    if (value.path("pieces").isEmpty()) {
      value.remove("pieces");
    }
  }
}
