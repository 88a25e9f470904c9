package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** An instance that is introduced while NATS has a heartbeat under its name. */
class HeartbeatTest {
  private final FakeNats nats = new FakeNats();
  private Instance instance;
  private Heartbeat heartbeat;
  private long now = System.nanoTime(); // on the clock of the heartbeat, which pauses put forward

  @BeforeEach
  void make() {
    instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i"), Map.of()), new Handlers());
    instance.broker.use(nats.connection);
    heartbeat = new Heartbeat(instance, "mine") {
      @Override
      long now() {
        return now;
      }

      @Override
      void pause(long millis) {
        now += Duration.ofMillis(millis).toNanos();
      }
    };
  }

  @AfterEach
  void stop() {
    instance.threads.shutdownNow();
    instance.clock.shutdownNow();
    instance.loop.shutdownNow();
  }

  private static final Message STORED = FakeNats.message("{\"stream\": \"KV_INST\", \"seq\": 9}");
  private static final Message REFUSED = FakeNats.message("{\"error\": {\"err_code\": 10071, \"description\": \"wrong last sequence\"}}");
  private static final Message NONE = NatsMessage.builder().subject("answer").build(); // as 404

  private final List<String> beats = new CopyOnWriteArrayList<>(); // the sequences that were expected; null: any

  private static Message beat(long sequence, String body, String... left) {
    Headers headers = new Headers().put("Nats-Sequence", String.valueOf(sequence));
    for (String operation : left) {
      headers.put("KV-Operation", operation);
    }
    return NatsMessage.builder().subject("answer").headers(headers).data(body).build();
  }

  private static String of(String secret) {
    return "{\"control_secret\": \"" + secret + "\", \"host\": \"web7\", \"pid\": 4711}";
  }

  /** NATS shows the n-th heartbeat that is looked for, and stores one that expects the given sequence, or none. */
  private AtomicInteger shows(long stored, IntFunction<Message> shown) {
    return shows(shown, expected -> expected == null || expected == stored ? STORED : REFUSED);
  }

  private AtomicInteger shows(IntFunction<Message> shown, Function<Long, Message> stored) {
    AtomicInteger looks = new AtomicInteger();
    nats.answer = m -> {
      if (m.getSubject().startsWith("$JS.API.DIRECT.GET.")) {
        return shown.apply(looks.incrementAndGet());
      }
      String expected = m.hasHeaders() ? m.getHeaders().getFirst(Wire.EXPECTED) : null;
      beats.add(expected);
      assertTrue(beats.size() < 100, "it goes on");
      return stored.apply(expected == null ? null : Long.valueOf(expected));
    };
    return looks;
  }

  /** So many heartbeats that expected none, and then those. */
  private static List<String> beats(int zeros, String... then) {
    return Stream.concat(Collections.nCopies(zeros, "0").stream(), Stream.of(then)).toList();
  }

  private static List<String> logged(Executable what) {
    Logger log = (Logger) LoggerFactory.getLogger(Executor.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      assertDoesNotThrow(what);
    } finally {
      log.detachAppender(lines);
    }
    return lines.list.stream().map(e -> e.getLevel() + " " + e.getFormattedMessage()).toList();
  }

  @Test
  void anotherInstanceOfTheNameThatLivesIsAConflict() {
    shows(-1, n -> beat(10L + n, of("another")));
    var conflict = assertThrows(InstanceConflictException.class, () -> heartbeat.introduce());
    assertTrue(conflict.getMessage().matches("instance i of group billing lives on host web7, process 4711: give each .*CARILLON_INSTANCE.*"), conflict.getMessage());
  }

  @Test
  void aHeartbeatThatIsNotAcknowledgedIsAProblemUntilOneIs() throws Exception {
    instance.loop.submit(instance::online).get();
    assertEquals(new Executor.Status("online", "", 32, 0), instance.status());
    nats.answer = m -> null;
    heartbeat.compareClocks();
    assertEquals("the heartbeat is not stored: no answer", instance.status().problem());
    nats.answer = m -> STORED;
    heartbeat.compareClocks();
    assertEquals("", instance.status().problem());
  }

  @Test
  void anAnnouncementThatNatsDoesNotTakeIsGivenUp() {
    Handlers handlers = new Handlers();
    handlers.register("big", Void.class, Void.class, (run, nothing) -> null).description("x".repeat(20_000));
    handlers.register("small", Void.class, Void.class, (run, nothing) -> null);
    nats.maxPayload = 16 << 10;
    assertTimeoutPreemptively(FakeNats.PATIENCE, () -> handlers.all().forEach(heartbeat::announce));
    assertEquals(List.of("$KV.HANDLER.billing.c21hbGw"), nats.sent.stream().map(Message::getSubject).toList());
  }

  @Test
  void anInstanceThatHasLeftMakesRoom() throws Exception {
    AtomicInteger looks = shows(7, n -> beat(7, "", "DEL"));
    heartbeat.introduce();
    assertEquals(1, looks.get());
  }

  @Test
  void whatTheInstanceItselfHasStoredMakesNoConflict() throws Exception {
    AtomicInteger looks = shows(7, n -> beat(7, of("mine")));
    heartbeat.introduce();
    assertEquals(1, looks.get());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aHeartbeatThatCannotBeReadCountsAsGoneAfterAWhile(boolean answers) {
    shows(7, n -> answers ? NONE : null);
    assertEquals(List.of("INFO waiting: the heartbeat of instance i cannot be read; if that lasts 15 s, the instance counts as gone"),
        logged(heartbeat::introduce));
    assertEquals(beats(16, (String) null), beats);
  }

  @Test
  void aHeartbeatThatWasReadDoesNotCountAsGoneForAsLong() throws Exception {
    shows(7, n -> n == 11 ? beat(7, of("another")) : NONE);
    heartbeat.introduce();
    assertEquals(beats(26, (String) null), beats);
  }

  @Test
  void aHeartbeatThatIsRemovedWhileItCannotBeReadIsExpectedNoMore() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    shows(n -> {
      looks.set(n);
      return n == 1 ? beat(6, of("mine")) : NONE;
    }, expected -> looks.get() == 3 && expected != null && expected == 0 ? STORED : REFUSED);
    heartbeat.introduce();
    assertEquals(List.of("0", "6", "0", "0"), beats);
  }

  @Test
  void afterAHeartbeatThatNatsDoesNotStoreTheWaitBeginsAnew() throws Exception {
    AtomicInteger any = new AtomicInteger();
    shows(n -> NONE, expected -> expected != null ? REFUSED : any.incrementAndGet() == 1 ? null : STORED);
    heartbeat.introduce();
    List<String> once = beats(16, (String) null);
    assertEquals(Stream.concat(once.stream(), once.stream()).toList(), beats);
  }

  @Test
  void aHeartbeatThatIsRefusedForAnotherReasonIsWarnedOf() {
    Message full = FakeNats.message("{\"error\": {\"err_code\": 10077, \"description\": \"maximum bytes exceeded\"}}");
    shows(n -> NONE, expected -> beats.size() == 1 ? full : STORED);
    assertEquals(List.of("WARN the heartbeat is not stored (maximum bytes exceeded): is a Carillon server running on this NATS? (trying again)"),
        logged(heartbeat::introduce));
    assertEquals(beats(2), beats);
  }
}
