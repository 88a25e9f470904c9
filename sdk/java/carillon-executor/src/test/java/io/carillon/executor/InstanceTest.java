package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InstanceTest {
  private static final String EVENTS = "evt.3.billing";
  private static final long SECONDS_5 = Duration.ofSeconds(5).toNanos();
  private static final String WRONG_SEQUENCE = "{\"error\": {\"err_code\": 10071, \"description\": \"wrong last sequence\"}}";

  private final FakeNats nats = new FakeNats();
  private final Handlers handlers = new Handlers();
  private Instance instance;

  private Instance instance(Options options) {
    instance = new Instance(Settings.of(options.instance("i"), Map.of()), handlers);
    instance.broker.use(nats.connection);
    return instance;
  }

  @AfterEach
  void stop() {
    instance.threads.shutdownNow();
    instance.clock.shutdownNow();
    instance.loop.shutdownNow();
  }

  private void start(String more) throws Garbage {
    Trigger t = Triggers.of(more);
    instance.onLoop(() -> instance.runs.start(t, Triggers.REPLY, ""));
  }

  private String custody() throws Exception {
    return instance.loop.submit(() -> instance.runs.custody(Triggers.of("").key())).get();
  }

  @Test
  void theEndOfARunIsReportedAndThenAcknowledged() throws Exception {
    handlers.register("h", Void.class, Integer.class, (run, nothing) -> {
      run.log().info("one");
      return 7;
    });
    instance(Options.fromEnvironment().group("billing"));
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    var end = Json.parse(nats.last(EVENTS));
    assertEquals(7, end.get("result").asInt());
    assertEquals(1, end.get("log_lines").asInt());
    assertEquals("reported", custody());
  }

  @ParameterizedTest
  @CsvSource(quoteCharacter = '`', value = {"\"timeout\": \"9999999h\",succeeded", "\"end_by\": \"9999-01-01T00:00:00Z\",succeeded", "\"timeout\": \"100ms\",timed_out",
    "\"end_by\": \"2026-01-05T02:00:00Z\",timed_out"})
  void aTimeLimitOfAnyLengthIsKept(String limit, String status) throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      Thread.sleep(status.equals("succeeded") ? 300 : 60_000);
      return null;
    });
    instance(Options.fromEnvironment().group("billing"));
    instance.loop.scheduleWithFixedDelay(() -> instance.runs.look(System.nanoTime()), 10, 10, TimeUnit.MILLISECONDS);
    start(limit);
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals(status, Json.parse(nats.last(EVENTS)).get("status").asText());
  }

  @Test
  void theSecondAfterWhichAnAttemptSaysThatItHasStartedBeginsWithIt() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      free.await();
      return null;
    });
    instance(Options.fromEnvironment().group("billing"));
    Trigger t = Triggers.of("");
    instance.loop.submit(() -> {
      Attempt attempt = new Attempt(instance, t, Triggers.REPLY, "");
      long came = System.nanoTime();
      long begun = came;
      while (begun - came < 2_000_000) { // it waits for the loop
        begun = System.nanoTime();
      }
      attempt.start();
      attempt.look(begun + Duration.ofSeconds(1).toNanos() - 1_000_000);
      assertEquals(0, nats.count(EVENTS));
      attempt.look(System.nanoTime() + Duration.ofSeconds(1).toNanos());
      assertEquals(1, nats.count(EVENTS));
    }).get();
    free.countDown();
  }

  @Test
  void aHandlerWhoseSlotsAreTakenGetsNoMoreRuns() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      free.await();
      return null;
    }).slots(1);
    instance(Options.fromEnvironment().group("billing"));
    Trigger second = Triggers.of("\"attempt\": 2");
    assertTrue(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 0)).get());
    start("");
    assertFalse(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 0)).get());
    free.countDown();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertTrue(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 0)).get());
  }

  @Test
  void besideARunWhoseExecutorDiedNoOtherBegins() throws Exception {
    CountDownLatch free = new CountDownLatch(1);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      free.await();
      return null;
    });
    instance(Options.fromEnvironment().group("billing"));
    Trigger first = Triggers.of("");
    Trigger second = Triggers.of("\"attempt\": 2");
    instance.loop.submit(() -> instance.runs.leaveAlone(first, 3600)).get();
    start("");
    assertFalse(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 0)).get());
    assertEquals(0, instance.loop.submit(() -> instance.runs.free()).get());
    instance.loop.submit(() -> instance.runs.leaveAlone(first, 0)).get(); // its time is over
    assertTrue(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 0)).get());
    assertFalse(instance.loop.submit(() -> instance.runs.hasRoomFor(second, Triggers.REPLY, 60)).get());
    free.countDown();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
  }

  /** An exception that cannot say to the loop what it is. */
  private static final class Mute extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      if (Thread.currentThread().getName().equals("carillon-loop")) {
        throw new IllegalStateException("no message");
      }
      return "message";
    }
  }

  private static int deeper(int n) {
    return deeper(n + 1) + 1;
  }

  @ParameterizedTest
  @CsvSource({"NoClassDefFoundError,com/example/Gone", "StackOverflowError,StackOverflowError", "OutOfMemoryError,Java heap space", "Mute,Mute"})
  void whateverAHandlerThrowsFailsTheRunAndNotTheExecutor(String what, String message) throws Exception {
    handlers.register("h", Void.class, Integer.class, (run, nothing) -> switch (what) {
      case "NoClassDefFoundError" -> throw new NoClassDefFoundError("com/example/Gone");
      case "OutOfMemoryError" -> throw new OutOfMemoryError("Java heap space");
      case "Mute" -> throw new Mute();
      default -> deeper(0);
    });
    instance(Options.fromEnvironment().group("billing"));
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    var end = Json.parse(nats.last(EVENTS));
    assertEquals("failed", end.get("status").asText());
    assertTrue(end.get("message").asText().contains(message), end.toString());
    assertTrue(what.equals("Mute") || new String(nats.last("log.billing." + Triggers.of("").runId())).contains(what));
  }

  @Test
  void aRunForWhichThereIsNoThreadFails() throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> null);
    instance(Options.fromEnvironment().group("billing"));
    instance.threads.shutdown();
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals("failed", Json.parse(nats.last(EVENTS)).get("status").asText());
  }

  @Test
  void aRunWhoseEndCannotBeMadeIsNotHeldForEver() throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> null);
    instance(Options.fromEnvironment().group("billing"));
    nats.brokenInfo = new OutOfMemoryError("Java heap space");
    start("");
    FakeNats.until(() -> nats.thrown.get() > 0);
    FakeNats.until(() -> instance.runs.running() == 0); // its trigger comes again
    assertEquals("none", custody());
  }

  @Test
  void theLoopGoesOnAfterAnError() throws Exception {
    instance(Options.fromEnvironment().group("billing").nats("nats://127.0.0.1:1"));
    nats.broken = new OutOfMemoryError("unable to create native thread");
    instance.begin();
    instance.loop.submit(instance::opened).get();
    FakeNats.until(() -> nats.thrown.get() > 0); // it would introduce itself
    nats.broken = null;
    FakeNats.until(() -> nats.count("$KV.INST.billing.i") > 0); // and tries again
    nats.broken = new NoClassDefFoundError("com/example/Gone");
    int before = nats.thrown.get();
    FakeNats.until(() -> {
      instance.onLoop(() -> instance.changed(false));
      return nats.thrown.get() > before;
    });
    nats.broken = null;
    long beats = nats.count("$KV.INST.billing.i");
    FakeNats.until(() -> {
      instance.onLoop(() -> instance.changed(false));
      return nats.count("$KV.INST.billing.i") > beats;
    });
  }

  @Test
  void anAttemptThatCannotBeLookedAtDoesNotKeepHeartbeatsBack() throws Exception {
    busy(new CountDownLatch(0));
    instance.loop.submit(() -> {
      nats.broken = new OutOfMemoryError("Java heap space");
      nats.brokenTimes = 1; // the sign of life of its run
      instance.tick(System.nanoTime() + SECONDS_5);
    }).get();
    assertEquals(1, nats.thrown.get());
    assertEquals(1, nats.count("$KV.INST.billing.i"));
  }

  @Test
  void anExecutorThatCannotConnectBecauseOfAnErrorEndsLoudly() throws Exception {
    Instance i = instance(Options.fromEnvironment().group("billing"));
    i.orEnd(() -> {
      throw new NoClassDefFoundError("com/example/Gone");
    });
    ExecutionException e = assertThrows(ExecutionException.class, () -> i.ended().get(FakeNats.PATIENCE.toSeconds(), TimeUnit.SECONDS));
    assertEquals(NoClassDefFoundError.class, e.getCause().getClass());
  }

  @Test
  void anEndThatNatsDoesNotTakeAnyMoreIsNotCountedAsStored(@TempDir Path folder) throws Exception {
    handlers.register("h", Void.class, String.class, (run, nothing) -> "x".repeat(20_000));
    instance(Options.fromEnvironment().group("billing").spool(folder));
    nats.answer = m -> {
      boolean away = nats.maxPayload > 16 << 10;
      nats.maxPayload = 16 << 10; // it comes back with another limit
      return away ? null : FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}");
    };
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals(2, nats.count(EVENTS));
    var end = Json.parse(nats.last(EVENTS));
    assertFalse(end.has("result"));
    assertTrue(end.get("message").asText().contains("max_payload"));
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void anEndThatAnErrorKeepsFromNatsIsPublishedAgain() throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> null);
    instance(Options.fromEnvironment().group("billing"));
    nats.broken = new OutOfMemoryError("Java heap space");
    start("");
    FakeNats.until(() -> nats.thrown.get() > 0);
    nats.broken = null;
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals(1, nats.count(EVENTS));
  }

  /** Maven, which runs programs in threads of its own, waits for those that they leave behind. */
  @Test
  void anExecutorThatHasStoppedLeavesNoThreadBehind() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    nats.answer = m -> tries.incrementAndGet() == 1 ? null : FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}"); // it is tried again
    ThreadGroup group = new ThreadGroup("program");
    Thread program = new Thread(group, () -> {
      Instance i = instance(Options.fromEnvironment().group("billing").nats("nats://127.0.0.1:1"));
      i.broker.storeAtLast(EVENTS, new Headers(), () -> new byte[0], error -> false, () -> { }).join();
      i.begin();
      i.stop();
      i.ended().join();
    });
    program.start();
    program.join();
    FakeNats.until(() -> group.activeCount() == 0);
  }

  @Test
  void whatIsNoAcknowledgementIsNone() throws Exception {
    Instance i = instance(Options.fromEnvironment().group("billing"));
    for (String answer : List.of("", "{}", "null")) {
      nats.answer = m -> FakeNats.message(answer);
      assertThrows(IOException.class, () -> i.broker.stored(EVENTS, new Headers(), new byte[0]), answer);
    }
  }

  @ParameterizedTest
  @CsvSource({"true,+ACK", "false,-NAK"})
  void aRunThatEndsWellWhileTheExecutorStopsCountsAndAnyOtherIsGivenBack(boolean finishes, String answer) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    handlers.register("h", Void.class, String.class, (run, nothing) -> {
      begun.countDown();
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        if (!finishes) {
          throw e;
        }
      }
      return "done";
    });
    instance(Options.fromEnvironment().group("billing"));
    start("");
    begun.await();
    instance.onLoop(() -> instance.runs.endAll());
    FakeNats.until(() -> nats.has(Triggers.REPLY, answer));
    assertEquals(finishes, nats.sent.stream().anyMatch(m -> m.getSubject().equals(EVENTS)));
    assertEquals(finishes ? "reported" : "none", custody());
  }

  @ParameterizedTest
  @CsvSource({"secrets,0", "claim,1"})
  void anAtMostOnceAttemptWhoseHandlerWasNotCalledWhenTheExecutorStopsIsGivenBack(String during, int claims, @TempDir Path folder) throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> null);
    Path key = Files.writeString(folder.resolve("key"), "carillon-group-1.billing." + "A".repeat(43));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    instance(Options.fromEnvironment().group("billing").secretKeyFile(key));
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch ending = new CountDownLatch(1);
    nats.answer = m -> {
      if (m.getSubject().contains("KV_SECRET") || m.getSubject().startsWith("$KV.CLAIM.")) {
        asked.countDown();
        awaitUninterruptibly(ending);
        return null; // no answer
      }
      return FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}");
    };
    start("\"delivery\": \"at_most_once\"" + (during.equals("secrets") ? ", \"task\": {\"handler\": \"h\", \"secrets\": {\"A\": \"a\"}}" : ""));
    asked.await();
    instance.loop.submit(() -> instance.runs.endAll()).get();
    ending.countDown();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "-NAK") || nats.count(EVENTS) > 0);
    assertEquals(0, nats.count(EVENTS));
    assertEquals(claims, nats.count("$KV.CLAIM.billing." + Triggers.of("").runId() + "-1-0") > 0 ? 1 : 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRunThatIsKilledWhileItIsGivenBackEndsAsCancelled(boolean over) throws Exception {
    CountDownLatch patience = new CountDownLatch(1);
    busy(patience);
    CompletableFuture<Message> logged = new CompletableFuture<>();
    nats.later = m -> m.getSubject().startsWith("log.") ? logged : null;
    instance.loop.submit(() -> instance.runs.endAll()).get();
    if (over) {
      patience.countDown();
      FakeNats.until(() -> nats.sent.stream().anyMatch(m -> m.getSubject().startsWith("log."))); // that it is given back
    }
    assertEquals("accepted", ask("kill", "{\"run_id\": \"" + Triggers.of("").runId() + "\", \"by\": \"ann\"}").at("/value/answer").asText());
    patience.countDown();
    logged.complete(FakeNats.message("{\"stream\": \"LOG\", \"seq\": 1}"));
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK") || nats.has(Triggers.REPLY, "-NAK"));
    assertFalse(nats.has(Triggers.REPLY, "-NAK"));
    var end = Json.parse(nats.last(EVENTS));
    assertEquals("cancelled: cancelled by ann", end.get("status").asText() + ": " + end.get("message").asText());
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    for (boolean interrupted = false; ; interrupted = true) {
      try {
        latch.await();
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        return;
      } catch (InterruptedException e) {
        // waits on
      }
    }
  }

  @Test
  void anAtMostOnceAttemptWhoseHandlerWasCalledWhenTheExecutorStopsIsLost() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      begun.countDown();
      Thread.sleep(60_000);
      return null;
    });
    instance(Options.fromEnvironment().group("billing"));
    start("\"delivery\": \"at_most_once\"");
    begun.await();
    instance.onLoop(() -> instance.runs.endAll());
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals("lost", Json.parse(nats.last(EVENTS)).get("status").asText());
  }

  @Test
  void anAtMostOnceRunThatIsKilledWhileTheExecutorStopsEndsAsCancelled() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      begun.countDown();
      awaitUninterruptibly(told);
      throw new IllegalStateException("stopped");
    });
    instance(Options.fromEnvironment().group("billing"));
    start("\"delivery\": \"at_most_once\"");
    begun.await();
    instance.loop.submit(() -> instance.runs.endAll()).get();
    assertEquals("accepted", ask("kill", "{\"run_id\": \"" + Triggers.of("").runId() + "\", \"by\": \"ann\"}").at("/value/answer").asText());
    told.countDown();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals("cancelled", Json.parse(nats.last(EVENTS)).get("status").asText());
  }

  @Test
  void aResultThatNatsDoesNotTakeIsLeftOutWithANote() throws Exception {
    handlers.register("h", Void.class, String.class, (run, nothing) -> "x".repeat(20_000));
    nats.maxPayload = 16 << 10;
    instance(Options.fromEnvironment().group("billing"));
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    var end = Json.parse(nats.last(EVENTS));
    assertFalse(end.has("result"));
    assertTrue(end.get("message").asText().contains("max_payload"));
  }

  @Test
  void aMessageThatNatsDoesNotTakeIsCutWithANote() throws Exception {
    handlers.register("h", Void.class, String.class, (run, nothing) -> {
      throw new FinalException("boom ".repeat(3000));
    });
    nats.maxPayload = 8 << 10;
    instance(Options.fromEnvironment().group("billing"));
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    String message = Json.parse(nats.last(EVENTS)).get("message").asText();
    assertTrue(message.contains("max_payload") && message.contains("boom") && message.length() <= 1024, message);
  }

  @Test
  void linesThatNatsDoesNotTakeAsOneMessageComeInSeveralAndOneThatIsTooLongIsCut() throws Exception {
    String text = "ü".repeat(10_000);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      for (int n = 0; n < 150; n++) {
        run.log().info("line {} {}", n, "y".repeat(50));
      }
      run.log().info(text);
      return null;
    });
    nats.maxPayload = 12 << 10;
    instance(Options.fromEnvironment().group("billing"));
    start("");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    List<JsonNode> lines = new ArrayList<>();
    int batches = 0;
    for (var m : nats.sent) {
      if (m.getSubject().startsWith("log.billing.")) {
        batches++;
        assertTrue(m.getData().length <= 8 << 10);
        Json.parse(m.getData()).get("lines").forEach(lines::add);
      }
    }
    assertTrue(batches > 2);
    assertEquals(LongStream.rangeClosed(1, 151).boxed().toList(), lines.stream().map(l -> l.get("seq").asLong()).toList());
    assertEquals("line 7 " + "y".repeat(50), lines.get(7).get("text").asText());
    String cut = lines.get(150).get("text").asText();
    assertTrue(cut.endsWith("…") && cut.length() > 500 && text.startsWith(cut.substring(0, cut.length() - 1)), cut);
  }

  @Test
  void anEndThatIsNotStoredIsOnDiskAndReportedByTheNextLife(@TempDir Path folder) throws Exception {
    handlers.register("h", Void.class, Integer.class, (run, nothing) -> 7);
    instance(Options.fromEnvironment().group("billing").spool(folder.resolve("spool")));
    nats.refuses = true;
    start("");
    FakeNats.until(() -> nats.sent.stream().anyMatch(m -> m.getSubject().equals(EVENTS)));
    Path file;
    try (var files = Files.list(folder.resolve("spool"))) {
      file = files.findFirst().orElseThrow();
    }
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertFalse(nats.has(Triggers.REPLY, "+ACK"));
    stop();

    FakeNats next = new FakeNats();
    Instance again = instance(Options.fromEnvironment().group("billing").spool(folder.resolve("spool")));
    again.broker.use(next.connection);
    again.spool.report(again.broker);
    assertEquals(7, Json.parse(next.last(EVENTS)).get("result").asInt());
    assertEquals("token", next.sent.get(0).getHeaders().getFirst(Wire.TOKEN));
    assertFalse(Files.exists(file));
  }

  @Test
  void whatIsNoEndIsSetAside(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("a.json"), "half");
    Files.writeString(folder.resolve("b.json"), "{\"subject\": \"evt.3.billing\", \"headers\": {}, \"data\": \"half\"}");
    Instance i = instance(Options.fromEnvironment().group("billing").spool(folder));
    i.spool.report(i.broker);
    assertTrue(nats.sent.isEmpty());
    assertEquals(Set.of("a.json.refused", "b.json.refused"), Set.of(folder.toFile().list()));
  }

  @Test
  void anEndOfAnEarlierLifeThatNatsDoesNotTakeIsMadeShorter(@TempDir Path folder) throws Exception {
    String data = "{\"run_id\": \"r\", \"status\": \"succeeded\", \"result\": \"" + "x".repeat(20_000) + "\"}";
    Files.write(folder.resolve("a.json"), Json.bytes(Json.object().put("subject", EVENTS).put("data", data)));
    Instance i = instance(Options.fromEnvironment().group("billing").spool(folder));
    nats.maxPayload = 16 << 10;
    i.spool.report(i.broker);
    var end = Json.parse(nats.last(EVENTS));
    assertEquals("r succeeded false", end.get("run_id").asText() + " " + end.get("status").asText() + " " + end.has("result"));
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void anEndOfAnEarlierLifeThatIsNotStoredIsKept(@TempDir Path folder) throws Exception {
    Files.write(folder.resolve("a.json"), Json.bytes(Json.object().put("subject", EVENTS).put("data", "{}")));
    Instance i = instance(Options.fromEnvironment().group("billing").spool(folder));
    nats.answer = m -> null;
    i.broker.close();
    i.spool.report(i.broker);
    assertEquals(1, nats.count(EVENTS));
    assertEquals(Set.of("a.json"), Set.of(folder.toFile().list()));
  }

  /** A request to an instance, and its answer. */
  private JsonNode ask(String verb, String body) throws Exception {
    Message m = NatsMessage.builder().subject("exec.billing.i-s." + verb).replyTo("answer").data(body)
        .headers(new Headers().put(Wire.MESSAGE, "request.v1")).build();
    instance.loop.submit(() -> new Requests(instance, "s").hear(m)).get();
    return Json.parse(nats.last("answer"));
  }

  /** Has the loop look at an instant. */
  private void tick(long now) throws Exception {
    instance.loop.submit(() -> instance.tick(now)).get();
  }

  /** An instance that is online, with a run that goes on until it has to end, and longer if it is patient. */
  private CompletableFuture<Run> busy(CountDownLatch patience) throws Exception {
    return busy(patience, Duration.ofSeconds(5));
  }

  private CompletableFuture<Run> busy(CountDownLatch patience, Duration grace) throws Exception {
    CompletableFuture<Run> begun = new CompletableFuture<>();
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      begun.complete(run);
      try {
        Thread.sleep(60_000);
      } catch (InterruptedException e) {
        patience.await();
        throw e;
      }
      return null;
    });
    instance(Options.fromEnvironment().group("billing").grace(grace));
    instance.loop.submit(instance::opened).get();
    instance.loop.submit(instance::online).get();
    start("");
    begun.get();
    return begun;
  }

  @Test
  void heartbeatsGoOnUntilTheLastRunOfAnInstanceThatStopsHasEnded() throws Exception {
    CountDownLatch patience = new CountDownLatch(1);
    busy(patience);
    instance.stop();
    long now = System.nanoTime();
    for (int n = 0; n < 3; n++) {
      tick(now + n * SECONDS_5); // it says so; the grace is over; and the run goes on still
      assertEquals(n + 1, nats.count("$KV.INST.billing.i"));
      var beat = Json.parse(nats.last("$KV.INST.billing.i"));
      assertEquals("draining 1", beat.get("state").asText() + " " + beat.get("running").asInt());
    }
    patience.countDown();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "-NAK"));
    tick(now + 2 * SECONDS_5 + 1);
    assertEquals("DEL", nats.sent.get(nats.sent.size() - 1).getHeaders().getFirst("KV-Operation"));
    assertTrue(instance.ended().isDone());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anInstanceThatStopsIntroducesItselfOnANewConnectionAndTouchesNoHeartbeatOfItsNameBefore(boolean free) throws Exception {
    String key = "$KV.INST.billing.i";
    CountDownLatch patience = new CountDownLatch(1);
    busy(patience);
    AtomicInteger reads = new AtomicInteger();
    nats.answer = m -> {
      if (m.getSubject().startsWith("$JS.API.DIRECT.GET.")) {
        return beat(7 + reads.getAndIncrement(), ""); // another one lives
      }
      return FakeNats.message(m.getSubject().equals(key) && !free ? WRONG_SEQUENCE : "{\"stream\": \"EVT\", \"seq\": 1}");
    };
    instance.stop();
    instance.loop.submit(instance::reconnected).get();
    long now = System.nanoTime();
    tick(now);
    assertEquals(0, nats.count(key));
    tick(now + 1);
    if (free) {
      FakeNats.until(() -> nats.count(key) > 0);
      FakeNats.until(() -> isSaidAfter(now + 2, key)); // a later heartbeat
    } else {
      FakeNats.until(() -> instance.conflict != null);
      tick(now + 2 * SECONDS_5);
      assertEquals("held", custody());
    }
    patience.countDown();
    instance.loop.submit(() -> instance.runs.endAll()).get();
    FakeNats.until(() -> nats.has(Triggers.REPLY, "-NAK"));
    tick(now + 2 * SECONDS_5 + 1);
    if (!instance.ended().isDone()) {
      tick(now + 2 * SECONDS_5 + 2);
    }
    List<Headers> beats = nats.sent.stream().filter(m -> m.getSubject().equals(key)).map(Message::getHeaders).toList();
    assertEquals("0", beats.get(0).getFirst(Wire.EXPECTED));
    assertTrue(instance.ended().isDone());
    assertEquals(!free, instance.ended().isCompletedExceptionally());
    if (free) {
      assertEquals("DEL", beats.get(beats.size() - 1).getFirst("KV-Operation"));
    } else {
      assertTrue(beats.stream().allMatch(h -> h != null && h.getFirst(Wire.EXPECTED) != null));
    }
  }

  private boolean isSaidAfter(long now, String key) {
    try {
      tick(now);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return nats.count(key) > 1;
  }

  @ParameterizedTest
  @CsvSource({"1h,false", "1ns,true"})
  void aStopWhileTheInstanceDrainsUntilATimeGivesLiveRunsTheGraceUnlessThatTimeIsOver(String within, boolean over) throws Exception {
    Run run = busy(new CountDownLatch(0)).get();
    ask("drain", "{\"within\": \"" + within + "\"}");
    instance.stop();
    long now = System.nanoTime();
    tick(now);
    tick(now + 1);
    assertEquals(over ? Ending.STOPPING : null, run.ending());
    tick(now + SECONDS_5);
    assertEquals(Ending.STOPPING, run.ending());
  }

  @Test
  void aStopGivesLiveRunsNoMoreThanWhatIsLeftOfTheTimeOfADrain() throws Exception {
    Run run = busy(new CountDownLatch(0), Duration.ofHours(2)).get();
    ask("drain", "{\"within\": \"1h\"}");
    instance.stop();
    long now = System.nanoTime();
    tick(now);
    tick(now + Duration.ofMillis(10).toNanos());
    assertNull(run.ending());
    tick(now + Duration.ofHours(1).toNanos());
    assertEquals(Ending.STOPPING, run.ending());
  }

  @Test
  void whatIsAskedOfAnInstanceThatStopsDoesNotUndoTheStop() throws Exception {
    Instance i = instance(Options.fromEnvironment().group("billing"));
    ask("cordon", "");
    assertEquals("accepted", ask("uncordon", "").at("/value/answer").asText());
    assertEquals(32, i.loop.submit(i.runs::free).get());
    i.loop.submit(i.runs::close).get();
    assertEquals("draining", ask("uncordon", "").at("/value/answer").asText());
    for (String[] request : new String[][] {{"drain", "{\"within\": \"1h\"}"}, {"drain", ""}, {"cordon", ""}, {"set", "{\"slots\": 64}"}}) {
      var value = ask(request[0], request[1]).get("value");
      assertEquals("accepted draining false", value.get("answer").asText() + " " + value.get("state").asText() + " " + value.has("drain_by"));
    }
    assertEquals(0, i.loop.submit(i.runs::free).get());
  }

  @Test
  void aClaimWhoseAnswerWasLostAndWhichCannotBeReadYetIsReadUntilItCan() throws Exception {
    handlers.register("h", Void.class, Integer.class, (run, nothing) -> 7);
    instance(Options.fromEnvironment().group("billing"));
    String claim = "$KV.CLAIM.billing." + Triggers.of("").runId() + "-1-0";
    AtomicInteger reads = new AtomicInteger();
    nats.answer = m -> {
      if (m.getSubject().startsWith("$JS.API.DIRECT.GET.KV_CLAIM.")) {
        return FakeNats.message(reads.getAndIncrement() == 0 ? "" : new String(nats.last(claim)));
      }
      boolean first = nats.count(claim) == 1;
      return !m.getSubject().equals(claim) ? FakeNats.message("{\"stream\": \"EVT\", \"seq\": 1}") : first ? null : FakeNats.message(WRONG_SEQUENCE);
    };
    start("\"delivery\": \"at_most_once\"");
    FakeNats.until(() -> nats.has(Triggers.REPLY, "+ACK"));
    assertEquals("succeeded", Json.parse(nats.last(EVENTS)).get("status").asText());
  }

  /** What a direct read of a heartbeat brings. */
  private static Message beat(int sequence, String operation) {
    Headers headers = new Headers().put("Nats-Sequence", String.valueOf(sequence)).put("KV-Operation", operation);
    return NatsMessage.builder().subject("answer").headers(headers).data("{\"control_secret\": \"x\"}").build();
  }

  @Test
  void aReplicaThatShowsAnOlderHeartbeatOrNoneYetMakesNoConflict() throws Exception {
    Instance i = instance(Options.fromEnvironment().group("billing"));
    AtomicInteger reads = new AtomicInteger();
    nats.answer = m -> {
      if (m.getSubject().startsWith("$JS.API.DIRECT.GET.KV_INST.")) {
        int read = reads.getAndIncrement();
        return read == 0 ? FakeNats.message("") : read < 3 ? beat(5 + read, "") : beat(8, "DEL");
      }
      return FakeNats.message(m.getHeaders().getFirst(Wire.EXPECTED).equals("8") ? "{\"stream\": \"KV_INST\", \"seq\": 9}" : WRONG_SEQUENCE);
    };
    new Heartbeat(i, "secret").introduce();
    assertEquals(5, nats.count("$KV.INST.billing.i")); // one a second, and a last one
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "attempts {\"attempts\": [{}]}", "attempts {\"attempts\": 7}", "attempts {\"attempts\": [\"x\"]}", "kill {}", "kill []", "set {\"slots\": 0}",
    "set {\"slots\": true}", "set {\"labels\": [1]}", "drain {\"within\": 7}", "drain {\"within\": \"soon\"}", "drain no json", "idle \"x\"", "run {}", "dance "
  })
  void aRequestThatMakesNoSenseIsAnsweredWithAFault(String request) throws Exception {
    String[] parts = request.split(" ", 2);
    Instance i = instance(Options.fromEnvironment().group("billing"));
    assertEquals("invalid", ask(parts[0], parts[1]).at("/fault/kind").asText());
    assertEquals(State.ONLINE, i.runs.state());
  }
}
