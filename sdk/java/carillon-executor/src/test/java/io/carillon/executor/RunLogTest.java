package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunLogTest {
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final List<ArrayNode> batches = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    clock.shutdownNow();
  }

  private RunLog log(int delivered, Function<ArrayNode, CompletableFuture<?>> send) {
    return new RunLog(new NatsClock(), clock, delivered, send, 1_000_000, 64L << 20);
  }

  private CompletableFuture<?> keep(ArrayNode batch) {
    batches.add(batch);
    return CompletableFuture.completedFuture(null);
  }

  private List<JsonNode> lines() {
    List<JsonNode> all = new ArrayList<>();
    batches.forEach(batch -> batch.forEach(all::add));
    return all;
  }

  private List<String> texts() {
    return lines().stream().map(l -> l.get("text").asText()).toList();
  }

  @Test
  void linesAreNumberedAndComeInBatches() {
    RunLog log = log(1, this::keep);
    for (int i = 0; i < 1000; i++) {
      log.add("stdout", "info", "line " + i);
    }
    assertEquals(1000, log.close().join());
    assertEquals(LongStream.rangeClosed(1, 1000).boxed().toList(), lines().stream().map(l -> l.get("seq").asLong()).toList());
    assertTrue(batches.stream().allMatch(b -> b.size() <= RunLog.BATCH_LINES));
  }

  @Test
  void theLastLineLeavesOutWhatTheRunHasPrinted() {
    wantLast("", "no route: bank", "the run ended as failed: no route: bank");
    wantLast("other", "no route: bank", "the run ended as failed: no route: bank");
    wantLast("no route: bank", "exit code 1: no route: bank", "the run ended as failed: exit code 1");
    wantLast("java.lang.IllegalStateException: bank\n\tat Pay", "IllegalStateException: bank", "the run ended as failed");
    wantLast("no route", "cannot pay; no route; stop", "the run ended as failed: cannot pay; no route; stop");
    wantLast("a long line", "exit code 1: a long…", "the run ended as failed: exit code 1");
    wantLast("all went badly\n15 rows", "bad: 5", "the run ended as failed: bad: 5");
    wantLast("5 rows", "no slot: 5", "the run ended as failed: no slot: 5");
    wantLast("early\n" + "x\n".repeat(10 << 10), "early", "the run ended as failed: early");
  }

  private void wantLast(String printed, String message, String text) {
    batches.clear();
    RunLog log = log(1, this::keep);
    if (!printed.isEmpty()) {
      log.add("stderr", "warn", printed);
    }
    log.end("failed", message);
    log.close().join();
    assertEquals(text, texts().get(texts().size() - 1));
  }

  @Test
  void aLaterDeliveryHasNumbersOfItsOwn() {
    RunLog log = log(3, this::keep);
    log.add("log", "info", "x");
    log.close().join();
    assertEquals(2_000_000_001L, lines().get(0).get("seq").asLong());
  }

  @Test
  void whileNothingIsStoredTheOldestLinesGoAndOneCountsThem() throws Exception {
    CompletableFuture<Void> stored = new CompletableFuture<>();
    AtomicInteger sent = new AtomicInteger();
    RunLog log = log(1, batch -> {
      sent.incrementAndGet();
      return stored.thenRun(() -> batches.add(batch));
    });
    log.add("stdout", "info", "first");
    FakeNats.until(() -> sent.get() == 1);
    for (int i = 0; i < 80; i++) {
      log.add("stdout", "info", "x".repeat(32_000));
    }
    stored.complete(null);
    log.close().join();
    List<JsonNode> told = lines().stream().filter(l -> l.get("output").asText().equals("system")).toList();
    assertEquals(1, told.size());
    assertTrue(told.get(0).get("text").asText().contains("lines were dropped here"));
    assertEquals("the log is incomplete: NATS did not take " + log.lost() + " of 81 lines in time", log.note());
    List<Long> numbers = lines().stream().map(l -> l.get("seq").asLong()).toList();
    assertEquals(numbers.stream().sorted().toList(), numbers);
    assertEquals(81, numbers.get(numbers.size() - 1));
  }

  @Test
  void aThreadOfAHandlerWaitsForRoomWhileLinesAreStored() throws Exception {
    RunLog log = log(1, batch -> CompletableFuture.runAsync(() -> batches.add(batch), clock));
    for (int i = 0; i < 30_000; i++) {
      log.write("log", "info", "line " + i);
    }
    assertEquals(30_000, log.close().join());
    assertEquals(0, log.lost());
    assertEquals("", log.note());
    assertEquals(LongStream.rangeClosed(1, 30_000).boxed().toList(), lines().stream().map(l -> l.get("seq").asLong()).toList());
  }

  @Test
  void nobodyWaitsForAStreamThatTakesNoLines() {
    RunLog log = log(1, batch -> new CompletableFuture<>());
    for (int i = 0; i < 80; i++) {
      log.write("log", "info", "x".repeat(32_000));
    }
    assertTrue(log.note().startsWith("the log is incomplete"), log.note());
  }

  @Test
  void anInterruptOfAThreadThatWaitsForRoomIsKept() {
    RunLog log = log(1, batch -> CompletableFuture.runAsync(() -> batches.add(batch), clock));
    Thread.currentThread().interrupt();
    for (int i = 0; i < 80; i++) {
      log.write("log", "info", "x".repeat(32_000));
    }
    assertTrue(Thread.interrupted());
    log.close().join();
    assertEquals(80, lines().size());
  }

  @Test
  void aFullLogCountsWhatFollows() {
    RunLog log = new RunLog(new NatsClock(), clock, 1, this::keep, 2, 1000);
    for (int i = 0; i < 5; i++) {
      log.add("stdout", "info", String.valueOf(i));
    }
    log.close().join();
    assertEquals(List.of("0", "1"), texts().subList(0, 2));
    assertTrue(texts().get(2).contains("full") && texts().get(3).startsWith("3 lines were dropped"), texts().toString());
  }

  @Test
  void linesThatAreGivenUpAreCountedWithThoseOnTheirWay() throws Exception {
    List<ArrayNode> tries = new CopyOnWriteArrayList<>();
    RunLog log = log(1, batch -> {
      tries.add(batch);
      return CompletableFuture.failedFuture(new IllegalStateException("away"));
    });
    for (int i = 0; i < 50; i++) {
      log.add("log", "info", String.valueOf(i));
    }
    FakeNats.until(() -> !tries.isEmpty());
    log.add("log", "info", "behind them");
    assertEquals(51, log.lost());
  }

  @Test
  void linesThatAreStoredAreNotGivenUp() {
    RunLog log = log(1, this::keep);
    log.add("log", "info", "one");
    log.close().join();
    assertEquals(0, log.lost());
  }

  @Test
  void aBatchThatIsNotStoredIsSentAgain() {
    List<ArrayNode> tries = new CopyOnWriteArrayList<>();
    RunLog log = log(1, batch -> {
      tries.add(batch);
      return tries.size() == 1 ? CompletableFuture.failedFuture(new IllegalStateException("away")) : keep(batch);
    });
    log.add("log", "info", "one");
    log.close().join();
    assertEquals(2, tries.size());
    assertEquals(List.of("one"), texts());
  }
}
