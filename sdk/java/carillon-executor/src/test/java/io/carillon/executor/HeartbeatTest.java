package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Message;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An instance that is introduced while NATS has a heartbeat under its name. */
class HeartbeatTest {
  private final FakeNats nats = new FakeNats();
  private Instance instance;
  private Heartbeat heartbeat;

  @BeforeEach
  void make() {
    instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i"), Map.of()), new Handlers());
    instance.broker.use(nats.connection);
    heartbeat = new Heartbeat(instance, "mine");
  }

  @AfterEach
  void stop() {
    instance.threads.shutdownNow();
    instance.clock.shutdownNow();
    instance.loop.shutdownNow();
  }

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

  /** NATS shows the n-th heartbeat that is looked for, and stores one that expects the given sequence only. */
  private AtomicInteger shows(long stored, IntFunction<Message> shown) {
    AtomicInteger looks = new AtomicInteger();
    nats.answer = m -> {
      if (m.getSubject().startsWith("$JS.API.DIRECT.GET.")) {
        return shown.apply(looks.incrementAndGet());
      }
      boolean expected = String.valueOf(stored).equals(m.getHeaders().getFirst(Wire.EXPECTED));
      return FakeNats.message(expected ? "{\"stream\": \"KV_INST\", \"seq\": 9}" : "{\"error\": {\"err_code\": 10071, \"description\": \"wrong last sequence\"}}");
    };
    return looks;
  }

  @Test
  void anotherInstanceOfTheNameThatLivesIsAConflict() {
    shows(-1, n -> beat(10L + n, of("another")));
    var conflict = assertThrows(InstanceConflictException.class, () -> heartbeat.introduce());
    assertTrue(conflict.getMessage().matches("instance i of group billing lives on host web7, process 4711: give each .*CARILLON_INSTANCE.*"), conflict.getMessage());
  }

  @Test
  void anAnnouncementThatNatsDoesNotTakeIsGivenUp() {
    Handlers handlers = new Handlers();
    handlers.register("big", Void.class, Void.class, (run, nothing) -> null).description("x".repeat(20_000));
    handlers.register("small", Void.class, Void.class, (run, nothing) -> null);
    nats.maxPayload = 16 << 10;
    assertTimeoutPreemptively(Duration.ofSeconds(10), () -> handlers.all().forEach(heartbeat::announce));
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
}
