package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Runs of other jobs that the handler of an attempt starts. Any thread may use it. */
final class Starts {
  private static final ObjectMapper MAPPER = Handlers.mapper();

  private final Server server;
  private final Map<String, Integer> equal = new HashMap<>(); // requests so far, by job and params

  /** Starts a run, and returns its id. */
  interface Server {
    String start(ObjectNode request) throws InterruptedException;
  }

  Starts(Server server) {
    this.server = server;
  }

  /** Has the server start a run. */
  String start(String job, Object params, StartOptions options) throws InterruptedException {
    ObjectNode request = Json.object().put("job", job);
    String key = job;
    if (params != null) {
      JsonNode value = sorted(MAPPER.valueToTree(params));
      String place = Json.noForm(value, "params");
      if (!place.isEmpty()) {
        throw new IllegalArgumentException(place + " is NaN or Infinity, which JSON does not have");
      }
      request.set("params", value);
      key += " " + value;
    }
    options.write(request);
    synchronized (equal) {
      request.put("count", equal.merge(key, 1, Integer::sum) - 1);
    }
    return server.start(request);
  }

  /** JSON with the keys of its objects in order, so that equal values have one text. */
  private static JsonNode sorted(JsonNode node) {
    if (node instanceof ArrayNode list) {
      ArrayNode all = Json.object().arrayNode();
      list.forEach(element -> all.add(sorted(element)));
      return all;
    }
    if (!(node instanceof ObjectNode)) {
      return node;
    }
    Map<String, JsonNode> fields = new TreeMap<>();
    node.properties().forEach(field -> fields.put(field.getKey(), sorted(field.getValue())));
    ObjectNode all = Json.object();
    all.setAll(fields);
    return all;
  }

  /**
   * Asks servers.
   *
   * @param patience for how long a request is repeated that none can answer
   * @param again the pause before it is repeated first
   */
  record Timing(Duration patience, Duration again) {
    static final Timing DEFAULT = new Timing(Duration.ofMinutes(1), Duration.ofMillis(200));
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final long LONGEST = 5000; // pause, in milliseconds

    /** Has a server start a run in the name of the attempt with that token, whose trigger is acknowledged on that subject. */
    String ask(Broker broker, String group, String token, String ack, ObjectNode request) throws InterruptedException {
      Headers headers = new Headers().put(Wire.TOKEN, token).put(Wire.ACK, ack);
      long end = System.nanoTime() + patience.toNanos();
      for (long pause = again.toMillis(); ; pause = Math.min(2 * pause, LONGEST)) {
        JsonNode answer = answer(broker, group, headers, request);
        JsonNode fault = answer.path("fault");
        if (!fault.isObject()) {
          return answer.path("value").path("run_id").asText();
        }
        String kind = fault.path("kind").asText();
        if (!kind.equals("unavailable") || System.nanoTime() + Duration.ofMillis(pause).toNanos() > end) {
          throw new StartRefusedException(kind, fault.path("text").asText());
        }
        Thread.sleep(pause);
      }
    }

    private static JsonNode answer(Broker broker, String group, Headers headers, ObjectNode request) throws InterruptedException {
      try {
        return Json.parse(broker.request("start." + group, headers, Json.bytes(request), ANSWER).getData());
      } catch (IOException e) {
        ObjectNode answer = Json.object();
        answer.putObject("fault").put("kind", "unavailable").put("text", "no server answers: " + e.getMessage());
        return answer;
      }
    }
  }
}
