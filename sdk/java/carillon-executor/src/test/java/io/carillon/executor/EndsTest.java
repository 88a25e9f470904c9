package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndsTest {
  private static final String PACKS = "evt.p0.billing";

  private final FakeNats nats = new FakeNats();
  private final List<CompletableFuture<Message>> unanswered = new ArrayList<>();
  private final Instance instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i"), Map.of()), new Handlers());
  private int runs;

  @BeforeEach
  void holdAnswers() {
    instance.broker.use(nats.connection);
    nats.later = m -> {
      CompletableFuture<Message> answer = new CompletableFuture<>();
      unanswered.add(answer);
      return answer;
    };
  }

  @AfterEach
  void stop() throws InterruptedException {
    instance.broker.close();
    instance.threads.shutdownNow();
    instance.clock.shutdownNow();
    instance.loop.shutdownNow();
  }

  /** Reports ends of that many bytes and more. */
  private List<CompletableFuture<Void>> report(String packs, int... sizes) {
    List<CompletableFuture<Void>> stored = new ArrayList<>();
    for (int size : sizes) {
      ObjectNode end = Json.object().put("kind", "finished").put("run_id", runs).put("message", "x".repeat(size));
      stored.add(instance.ends.store(packs, "evt.3.billing", new Headers().put(Wire.TOKEN, "token-" + runs), end));
      runs++;
    }
    return stored;
  }

  private void acknowledge() {
    unanswered.remove(0).complete(FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}"));
  }

  /** The runs whose ends the messages have. */
  private List<List<Integer>> sent() {
    return nats.sent.stream().map(EndsTest::runs).toList();
  }

  private static List<Integer> runs(Message m) {
    List<JsonNode> lines = new String(m.getData(), StandardCharsets.UTF_8).lines().map(EndsTest::parse).toList();
    if (!m.getSubject().equals(PACKS)) {
      return List.of(lines.get(0).get("run_id").intValue());
    }
    assertEquals(Json.object().put("instance", "i").put("ends", lines.size() - 1), lines.get(0));
    assertEquals("events.v1", m.getHeaders().getFirst(Wire.MESSAGE));
    assertTrue(m.getHeaders().getFirst(Wire.MSG_ID).matches("p:[A-Za-z0-9_-]{22,}"));
    assertNull(m.getHeaders().getFirst(Wire.TOKEN));
    return lines.stream().skip(1).map(line -> {
      assertEquals("token-" + line.get("run_id"), line.get("token").asText());
      return line.get("run_id").intValue();
    }).toList();
  }

  private static JsonNode parse(String line) {
    try {
      return Json.parse(line.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLoneEndGoesAtOnceAndWhatComesMeanwhileInOneMessage() {
    List<CompletableFuture<Void>> stored = report(PACKS, 0, 0, 0);
    assertEquals(List.of(List.of(0)), sent());
    acknowledge();
    assertTrue(stored.get(0).isDone());
    assertEquals(List.of(List.of(0), List.of(1, 2)), sent());
    assertFalse(stored.get(1).isDone());
    acknowledge();
    stored.forEach(CompletableFuture::join);
  }

  @Test
  void endsThatSomebodyWaitsForGoAlone() {
    report("", 0, 0);
    assertEquals(List.of(List.of(0), List.of(1)), sent());
  }

  @ParameterizedTest
  @CsvSource({"300,0,256,1048576", "20,20000,13,1048576", "20,20000,2,49152", "3,40000,1,1048576"})
  void aPackHasBounds(int ends, int size, int first, int maxPayload) {
    nats.maxPayload = maxPayload;
    report(PACKS, 0);
    List<CompletableFuture<Void>> stored = report(PACKS, IntStream.generate(() -> size).limit(ends).toArray());
    while (!unanswered.isEmpty()) {
      acknowledge();
    }
    stored.forEach(CompletableFuture::join);
    assertEquals(first, sent().get(1).size());
    assertEquals(ends + 1, sent().stream().mapToInt(List::size).sum());
    nats.sent.forEach(m -> assertTrue(m.getData().length <= Math.min(256 << 10, maxPayload - (4 << 10))));
  }

  @Test
  void aPackIsSentAgainWithTheSameIdAndFallsApartIfNatsComesBackWithASmallerLimit() {
    List<CompletableFuture<Void>> stored = report(PACKS, 0, 20_000, 20_000);
    nats.later = m -> {
      boolean pack = m.getSubject().equals(PACKS);
      if (nats.count(PACKS) == 2) {
        nats.maxPayload = 32 << 10;
      }
      return pack ? CompletableFuture.failedFuture(new TimeoutException()) : null;
    };
    acknowledge();
    stored.forEach(CompletableFuture::join);
    assertEquals(List.of(List.of(0), List.of(1, 2), List.of(1, 2), List.of(1), List.of(2)), sent());
    assertEquals(nats.sent.get(1).getHeaders().getFirst(Wire.MSG_ID), nats.sent.get(2).getHeaders().getFirst(Wire.MSG_ID));
  }

  @Test
  void endsAreNotStoredIfTheConnectionIsClosed() throws InterruptedException {
    List<CompletableFuture<Void>> stored = report(PACKS, 0, 0, 0);
    instance.broker.close();
    unanswered.remove(0).completeExceptionally(new TimeoutException());
    unanswered.forEach(answer -> answer.completeExceptionally(new TimeoutException()));
    stored.forEach(end -> assertThrows(CompletionException.class, end::join));
  }

  @Test
  void anErrorOfTheMachineStopsNoLaterEnd() {
    nats.brokenInfo = new OutOfMemoryError("test");
    report(PACKS, 0).forEach(end -> assertThrows(CompletionException.class, end::join));
    nats.brokenInfo = null;
    report(PACKS, 0);
    assertEquals(List.of(List.of(1)), sent());
  }
}
