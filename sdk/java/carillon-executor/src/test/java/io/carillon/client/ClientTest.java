package io.carillon.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The client passes the cases of the clients in all languages. */
class ClientTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Path CASES = Path.of("../../../client/testdata/cases.json");
  private static final Duration LONG = Duration.ofHours(1);

  record Welcome(int user, Instant since) {}

  record Sent(int messages) {}

  /** A clock that goes on by pauses only. */
  private static final class Paused implements Sender.Clock {
    final List<Double> pauses = new ArrayList<>();
    private final long start;

    Paused(Instant start) {
      this.start = start.toEpochMilli();
    }

    @Override
    public long now() {
      return start + Math.round(elapsed() * 1000);
    }

    @Override
    public double elapsed() {
      return pauses.stream().mapToDouble(p -> p).sum();
    }

    @Override
    public void pause(double seconds) {
      pauses.add(seconds);
    }
  }

  @TestFactory
  Stream<DynamicTest> theClientPassesTheCasesOfAllLanguages() throws IOException {
    JsonNode shared = MAPPER.readTree(Files.readString(CASES));
    assertTrue(shared.path("cases").size() >= 30);
    return StreamSupport.stream(shared.path("cases").spliterator(), false)
        .map(c -> DynamicTest.dynamicTest(c.path("name").asText(), () -> passes(c, shared.path("token").asText(), Instant.parse(shared.path("now").asText()))));
  }

  private static void passes(JsonNode c, String token, Instant now) throws Exception {
    Paused clock = new Paused(now);
    JsonNode result = null;
    ClientException error = null;
    try (Player player = new Player(c.path("server"), token, now)) {
      Client client = new Client(player.address(), token);
      client.sender.clock = clock;
      try {
        result = act(client, c.path("call"));
      } catch (ClientException e) {
        error = e;
      }
      assertEquals(List.of(), player.wrong);
      assertEquals(0, player.left.size(), "requests that did not come");
    }
    List<Double> pauses = new ArrayList<>();
    c.path("pauses").forEach(p -> pauses.add(p.asDouble()));
    assertEquals(pauses, clock.pauses);
    if (!c.has("error")) {
      if (error != null) {
        throw error;
      }
      assertEquals(c.path("result"), MAPPER.readTree(result.toString()));
      return;
    }
    ClientException e = assertInstanceOf(ClientException.class, error);
    JsonNode want = c.path("error");
    assertEquals(want.path("kind").asText(), e.getClass().getSimpleName().replace("ClientException", "Error"));
    assertEquals(want.path("field").asText(), e.field());
    assertEquals(want.path("after").asLong(), e.after());
    assertEquals(want.path("message").asText(e.getMessage()), e.getMessage());
    assertEquals(want.path("status").asInt(e.status()), e.status());
    assertEquals(want.path("code").asText(e.code()), e.code());
    if (e instanceof ClientException.KeyInUse used) {
      assertEquals(want.path("run").asText(), used.run());
      List<String> fields = new ArrayList<>();
      want.path("fields").forEach(f -> fields.add(f.asText()));
      assertEquals(fields, used.fields());
    }
  }

  /** Does a call, and returns its result as the cases write it. */
  private static JsonNode act(Client client, JsonNode call) {
    String run = call.path("run").asText();
    String job = call.path("job").asText();
    switch (call.path("do").asText()) {
      case "run":
        return fields(client.run(job, call.get("params"), options(call)));
      case "run many":
        List<RunRequest> requests = new ArrayList<>();
        call.path("runs").forEach(c -> requests.add(new RunRequest(c.path("job").asText(), c.get("params"), options(c))));
        ArrayNode results = MAPPER.createArrayNode();
        client.runMany(requests).forEach(r -> results.add(r.error() == null ? fields(r.run())
            : MAPPER.createObjectNode().put("error", r.error().getClass().getSimpleName()).put("message", r.error().getMessage())));
        return results;
      case "run and cancel":
        client.run(job, null).cancel("");
        return MAPPER.nullNode();
      case "status":
        return fields(client.status(run));
      case "wait":
        return fields(client.join(run, LONG));
      case "cancel":
        client.cancel(run, call.path("reason").asText());
        return MAPPER.nullNode();
      case "cancel key":
        client.cancelKey(job, call.path("key").asText(), call.path("reason").asText());
        return MAPPER.nullNode();
      case "waiting":
        ArrayNode runs = MAPPER.createArrayNode();
        client.waiting(job).forEach(r -> runs.add(fields(r)));
        return runs;
      default:
        throw new AssertionError(call);
    }
  }

  private static RunOptions options(JsonNode call) {
    RunOptions options = RunOptions.now();
    if (call.has("at")) {
      options = RunOptions.at(Instant.parse(call.path("at").asText()));
    }
    if (call.has("in_ms")) {
      options = RunOptions.in(Duration.ofMillis(call.path("in_ms").asLong()));
    }
    if (call.has("expires")) {
      options = options.expires(Instant.parse(call.path("expires").asText()));
    }
    if (call.has("expires_ms")) {
      options = options.expires(Duration.ofMillis(call.path("expires_ms").asLong()));
    }
    if (call.has("key")) {
      options = options.key(call.path("key").asText());
    }
    if (call.has("reset")) {
      options = options.reset();
    }
    if (call.has("labels")) {
      Map<String, String> labels = MAPPER.convertValue(call.path("labels"), MAPPER.getTypeFactory().constructMapType(Map.class, String.class, String.class));
      options = options.labels(labels);
    }
    return options;
  }

  private static ObjectNode fields(Run r) {
    ObjectNode node = MAPPER.createObjectNode().put("run_id", r.id()).put("job", r.job()).put("version", r.version()).put("status", r.status().text());
    if (r.due() != null) {
      node.put("due", r.due().toString().replaceFirst("([.][0-9])00Z$", "$1Z"));
    }
    if (r.existed()) {
      node.put("existed", true);
    }
    if (!r.reason().isEmpty()) {
      node.put("reason", r.reason());
    }
    return node;
  }

  private static ObjectNode fields(State s) {
    ObjectNode node = MAPPER.createObjectNode().put("run_id", s.id()).put("job", s.job()).put("status", s.status().text());
    if (!s.reason().isEmpty()) {
      node.put("reason", s.reason());
    }
    if (!s.result().isMissingNode()) {
      node.set("result", s.result());
    }
    return node;
  }

  @Test
  void aWaitEndsAfterItsTimeout() {
    Memory memory = new Memory();
    memory.end("mail/welcome", Status.RUNNING, null);
    Client client = memory.client();
    Paused clock = new Paused(Instant.now());
    client.sender.clock = clock;
    Run run = client.run("mail/welcome", null);
    assertThrows(ClientException.WaitTimeout.class, () -> run.join(Duration.ofMinutes(1)));
    assertEquals(60, clock.elapsed());
  }

  @Test
  void anInterruptEndsACallAndStaysSet() {
    Memory memory = new Memory();
    memory.end("mail/welcome", Status.RUNNING, null);
    Run run = memory.client().run("mail/welcome", null);
    Thread.currentThread().interrupt();
    assertThrows(ClientException.Unavailable.class, () -> run.join(LONG));
    assertTrue(Thread.interrupted());
  }

  @Test
  void theMemoryKeepsWhatWasAskedFor() {
    Memory memory = new Memory();
    Client client = memory.client();
    memory.end("mail/welcome", Status.FAILED, Map.of("messages", 3, "more", true));
    Run run = client.run("mail/welcome", new Welcome(42, Instant.EPOCH), RunOptions.now().expires(Duration.ofHours(1)));
    State end = run.join(LONG);
    assertEquals(Status.FAILED, end.status());
    assertEquals(new Sent(3), end.result(Sent.class));
    assertThrows(ClientException.Ended.class, () -> run.cancel(""));
    assertThrows(ClientException.NotFound.class, () -> client.status("other"));

    Instant at = Instant.parse("2027-01-06T09:00:00Z");
    Run later = client.run("mail/welcome", null, RunOptions.at(at));
    assertEquals(at, later.due());
    assertEquals(later.id(), client.waiting("mail/welcome").iterator().next().id());
    later.cancel("typo");
    assertEquals(Status.CANCELLED, later.join(LONG).status());
    assertNull(later.join(LONG).result(Sent.class));
    assertFalse(client.waiting("mail/welcome").iterator().hasNext());

    Memory.Wish wish = memory.wishes().get(0);
    assertEquals("{\"user\":42,\"since\":\"1970-01-01T00:00:00Z\"}", wish.params().toString());
    assertEquals("3600s", wish.expires());
    assertEquals("2027-01-06T09:00:00.000Z", memory.wishes().get(1).at());
  }

  @Test
  void theMemoryMakesOneRunForAKey() {
    Memory memory = new Memory();
    Client client = memory.client();
    RunOptions ada = RunOptions.now().key("ada");
    Run first = client.run("mail/welcome", Map.of("user", 1), RunOptions.in(Duration.ofHours(1)).key("ada"));
    Run again = client.run("mail/welcome", Map.of("user", 1), ada);
    assertEquals(first.id(), again.id());
    assertTrue(again.existed());
    assertEquals(Status.QUEUED, again.status());
    var used = assertThrows(ClientException.KeyInUse.class, () -> client.run("mail/welcome", Map.of("user", 2), ada));
    assertEquals(first.id(), used.run());
    assertEquals(List.of("params"), used.fields());
    assertThrows(ClientException.KeyInUse.class, () -> client.run("mail/welcome", Map.of("user", 1), ada.reset()));
    client.cancelKey("mail/welcome", "ada", "");
    assertThrows(ClientException.NotFound.class, () -> client.cancelKey("mail/welcome", "bob", ""));
    assertFalse(client.run("mail/welcome", Map.of("user", 2), ada.reset()).existed());
    RunRequest bob = new RunRequest("mail/welcome", null, RunOptions.now().key("bob"));
    List<RunResult> many = client.runMany(List.of(bob, bob, new RunRequest("mail/welcome", 1, bob.options())));
    assertEquals(many.get(0).run().id(), many.get(1).run().id());
    assertInstanceOf(ClientException.KeyInUse.class, many.get(2).error());
    assertEquals(List.of("ada", "ada", "bob"), memory.wishes().stream().map(Memory.Wish::key).toList());
  }

  @Test
  void anAnswerIsReadUpToALimit() throws Exception {
    Bounded fits = new Bounded(10);
    fits.onNext(List.of(ByteBuffer.wrap(new byte[4]), ByteBuffer.wrap(new byte[6])));
    fits.onComplete();
    assertEquals(10, fits.getBody().toCompletableFuture().get().length);
    AtomicBoolean cancelled = new AtomicBoolean();
    Bounded exceeds = new Bounded(10_000);
    exceeds.onSubscribe(new Flow.Subscription() {
      @Override
      public void request(long n) {}

      @Override
      public void cancel() {
        cancelled.set(true);
      }
    });
    exceeds.onNext(List.of(ByteBuffer.wrap(new byte[20_000])));
    assertEquals(10_001, exceeds.getBody().toCompletableFuture().get().length);
    assertTrue(cancelled.get());
  }

  @Test
  void aServerNeedsAnAddress() {
    HttpClient follows = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
    assertThrows(ClientException.InvalidParams.class, () -> new Client(null, "carillon_test", follows, null));
    assertThrows(ClientException.InvalidParams.class, () -> new Client("ftp://carillon.example.com", ""));
    assertEquals("http://carillon.example.com:8822", new Client("carillon.example.com:8822/", "").sender.server());
    assertEquals("http://127.0.0.1:8822", new Client(null, null).sender.server());
  }
}
