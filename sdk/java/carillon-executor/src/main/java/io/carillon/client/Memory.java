package io.carillon.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A server in memory, for tests of applications: it keeps the runs that were asked for, and ends them as the
 * test wants. Without {@link #end}, runs succeed at once. Those with a time wait until they are cancelled. Keys
 * are never forgotten.
 */
public final class Memory {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * A run that was asked for.
   *
   * @param params a missing node if the parameters of the job were to stay
   * @param labels a missing node if those of the job were to stay
   * @param at as it was sent, or ""
   * @param in as it was sent, such as "600s", or ""
   * @param expires as it was sent, such as "3600s", or ""
   * @param key as it was sent, or ""
   */
  public record Wish(String runId, String job, JsonNode params, JsonNode labels, String at, String in, String expires, String key) {}

  private record End(Status status, JsonNode result) {}

  private final List<Wish> wishes = new ArrayList<>();
  private final Map<String, End> ends = new HashMap<>(); // by job
  private final Map<String, End> states = new HashMap<>(); // by run

  /** A client of the server. */
  public Client client() {
    return new Client(this::answer);
  }

  /** The runs that were asked for, the oldest first. */
  public synchronized List<Wish> wishes() {
    return List.copyOf(wishes);
  }

  /** Sets how the runs of a job end, from the next one on. With {@link Status#RUNNING} they do not end. */
  public synchronized void end(String job, Status status, Object result) {
    ends.put(job, new End(status, result == null ? null : MAPPER.valueToTree(result)));
  }

  private synchronized Sender.Answer answer(String method, String path, byte[] body) throws IOException {
    String[] parts = path.split("[?]", 2)[0].substring("/api/v1/".length()).split("/");
    if (method.equals("POST") && parts.length == 4 && parts[3].equals("cancel")) {
      Wish had = keyed(parts[1] + "/" + parts[2], MAPPER.readTree(body).path("key").asText());
      if (had == null) {
        return json(404, MAPPER.createObjectNode().put("code", "not_found").put("detail", "no run has this key"));
      }
      return cancel(had);
    }
    if (method.equals("POST") && parts.length == 4) {
      ObjectNode answer = run(parts[1] + "/" + parts[2], MAPPER.readTree(body));
      return json(answer.path("status").asInt(202), answer);
    }
    if (method.equals("POST") && parts.length == 2) {
      ObjectNode answer = MAPPER.createObjectNode();
      ArrayNode items = answer.putArray("items");
      for (JsonNode entry : MAPPER.readTree(body).path("runs")) {
        ObjectNode run = run(entry.path("job").asText(), entry.path("run"));
        items.addObject().set(run.has("code") ? "problem" : "accepted", run);
      }
      return json(200, answer);
    }
    if (parts.length == 1) {
      return json(200, waiting(URLDecoder.decode(path.replaceFirst(".*&job=", ""), StandardCharsets.UTF_8)));
    }
    Wish wish = wishes.stream().filter(w -> w.runId().equals(parts[1])).findFirst().orElse(null);
    if (wish == null) {
      return json(404, MAPPER.createObjectNode().put("code", "not_found").put("detail", "there is no run " + parts[1]));
    }
    End end = states.get(wish.runId());
    if (method.equals("GET")) {
      ObjectNode detail = MAPPER.createObjectNode().put("run_id", wish.runId()).put("job", wish.job()).put("status", end.status().text());
      ObjectNode attempt = detail.putArray("attempts").addObject().put("status", end.status().text());
      if (end.result() != null) {
        attempt.set("result", end.result());
      }
      return json(200, detail);
    }
    return cancel(wish);
  }

  private Sender.Answer cancel(Wish wish) throws IOException {
    End end = states.get(wish.runId());
    if (end.status().ended()) {
      String why = "run " + wish.runId() + " is " + end.status().text();
      return json(409, MAPPER.createObjectNode().put("code", "conflict").put("detail", why));
    }
    states.put(wish.runId(), new End(Status.CANCELLED, null));
    return json(202, MAPPER.createObjectNode().put("run_id", wish.runId()).put("found", end.status().text()));
  }

  /** The run, or the problem with its status. */
  private ObjectNode run(String job, JsonNode sent) {
    String key = sent.path("key").asText();
    Wish had = keyed(job, key);
    if (had != null && !(sent.path("reset").asBoolean() && states.get(had.runId()).status().ended())) {
      return known(had, sent);
    }
    Wish wish = new Wish(sent.path("run_id").asText(), job, sent.path("params"), sent.path("labels"), sent.path("at").asText(),
        sent.path("in").asText(), sent.path("expires").asText(), key);
    wishes.add(wish);
    ObjectNode accepted = MAPPER.createObjectNode().put("run_id", wish.runId()).put("job", job).put("version", 1);
    if (wish.at().isEmpty() && wish.in().isEmpty()) {
      states.put(wish.runId(), ends.getOrDefault(job, new End(Status.SUCCEEDED, null)));
      return accepted.put("status", "pending");
    }
    states.put(wish.runId(), new End(Status.QUEUED, null));
    return accepted.put("status", "queued").put("due", due(wish));
  }

  /** The latest run of a job with a key; null if there is none. */
  private Wish keyed(String job, String key) {
    for (int i = wishes.size() - 1; i >= 0 && !key.isEmpty(); i--) {
      if (wishes.get(i).job().equals(job) && wishes.get(i).key().equals(key)) {
        return wishes.get(i);
      }
    }
    return null;
  }

  /** The run that has a key, or why a request cannot have it. */
  private ObjectNode known(Wish had, JsonNode sent) {
    List<String> differ = new ArrayList<>();
    if (!had.params().equals(sent.path("params"))) {
      differ.add("params");
    }
    if (!had.labels().equals(sent.path("labels"))) {
      differ.add("labels");
    }
    boolean reset = sent.path("reset").asBoolean();
    if (!reset && differ.isEmpty()) {
      ObjectNode accepted = MAPPER.createObjectNode().put("run_id", had.runId()).put("job", had.job()).put("version", 1);
      return accepted.put("status", states.get(had.runId()).status().text()).put("existed", true);
    }
    String fields = reset ? "" : String.join(", ", differ);
    String why = "run " + had.runId() + (reset ? ", which has this key, has not ended" : " has this key, with other " + fields);
    ObjectNode problem = MAPPER.createObjectNode().put("status", 409).put("code", "key_in_use").put("detail", why).put("run_id", had.runId());
    problem.putObject("reason").put("text", why).putObject("params").put("fields", fields);
    return problem;
  }

  private ObjectNode waiting(String job) {
    ObjectNode page = MAPPER.createObjectNode();
    ArrayNode items = page.putArray("items");
    for (Wish wish : wishes) {
      if (wish.job().equals(job) && states.get(wish.runId()).status() == Status.QUEUED) {
        items.addObject().put("run_id", wish.runId()).put("job", job).put("version", 1).put("status", "queued").put("fire_time", due(wish));
      }
    }
    return page;
  }

  private static String due(Wish wish) {
    if (!wish.at().isEmpty()) {
      return wish.at();
    }
    long count = Long.parseLong(wish.in().replaceAll("[^0-9-]", ""));
    return Instant.now().plusMillis(wish.in().endsWith("ms") ? count : count * 1000).toString();
  }

  private static Sender.Answer json(int status, ObjectNode body) throws IOException {
    String kind = status < 300 ? "application/json" : "application/problem+json";
    return new Sender.Answer(status, Map.of("content-type", kind), MAPPER.writeValueAsBytes(body));
  }
}
