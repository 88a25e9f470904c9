package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import io.nats.client.support.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PullerTest {
  private final FakeNats nats = new FakeNats();
  private final Handlers handlers = new Handlers();
  private final Instance instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i").slots(8), Map.of()), handlers);
  private final Puller puller = new Puller(instance);

  @AfterEach
  void stop() {
    instance.threads.shutdownNow();
    instance.clock.shutdownNow();
    instance.loop.shutdownNow();
  }

  private List<Integer> batches() {
    return nats.sent.stream().map(m -> {
      try {
        return Json.parse(m.getData()).get("batch").asInt();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }).toList();
  }

  /** Has so many slots. */
  private void slots(int slots) {
    instance.runs.set(slots, null);
    puller.slotFree(System.nanoTime());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTriggerOfAVersionThatIsNotKnownIsHandedOverUnread(boolean unreadable) throws Exception {
    instance.broker.use(nats.connection);
    String body = unreadable ? "{\"v2\": true}" : Triggers.raw("").toString();
    instance.loop.submit(() -> instance.runs.kill(Triggers.of("").runId(), "wrong day")).get();
    Headers v2 = new Headers().put(Wire.MESSAGE, "trigger.v2");
    instance.loop.submit(() -> puller.take(NatsMessage.builder().subject("inbox").replyTo(Triggers.REPLY).headers(v2).data(body).build())).get();
    FakeNats.until(() -> !nats.sent.isEmpty());
    assertEquals("hand.billing", nats.sent.get(0).getSubject());
    assertEquals(Triggers.REPLY, nats.sent.get(0).getHeaders().getFirst(Wire.ACK));
    assertEquals("none", instance.loop.submit(() -> instance.runs.custody(Triggers.of("").key())).get());
  }

  @Test
  void freeSlotsAreAskedForUnlessTheyAreFewAndMoreIsOnOrder() {
    instance.broker.use(nats.connection);
    slots(8);
    assertEquals(List.of(8), batches());
    slots(15);
    assertEquals(List.of(8), batches()); // 7 are free, and 8 on order
    slots(16);
    assertEquals(List.of(8, 8), batches());
  }

  @Test
  void aRequestWhoseSlotsOtherRunsHaveTakenIsGivenUp() throws Exception {
    instance.broker.use(nats.connection);
    slots(8);
    handlers.register("h", Void.class, Void.class, (run, nothing) -> {
      Thread.sleep(60_000);
      return null;
    });
    Trigger t = Triggers.of("");
    instance.loop.submit(() -> instance.runs.start(t, Triggers.REPLY, "")).get();
    assertTrue(nats.listeners.containsKey(inbox()));
    instance.loop.submit(() -> puller.look(System.nanoTime())).get();
    nats.pong.complete(true);
    untilQuiet();
    instance.loop.submit(() -> puller.look(System.nanoTime())).get();
    assertEquals(List.of(8, 7), batches());
  }

  private void untilQuiet() throws InterruptedException {
    FakeNats.until(() -> CompletableFuture.supplyAsync(puller::isQuiet, instance.loop).join());
  }

  /** The inbox of the last pull request. */
  private String inbox() {
    return nats.sent.stream().filter(m -> m.getSubject().startsWith("$JS.API.CONSUMER.MSG.NEXT.")).reduce((a, b) -> b).orElseThrow().getReplyTo();
  }

  @ParameterizedTest
  @CsvSource({"set,+ACK", "consumers,+ACK", "silence,+ACK", "reconnect,+ACK", "cordon,-NAK", "drain,-NAK", "stop,-NAK"})
  void aTriggerThatWasOnItsWayWhenItsRequestWasGivenUpIsDoneOrGivenBack(String how, String answer) throws Exception {
    handlers.register("h", Void.class, Void.class, (run, nothing) -> null);
    instance.broker.use(nats.connection);
    instance.loop.submit(instance::opened).get();
    instance.loop.submit(instance::online).get();
    instance.loop.submit(instance::slotFree).get();
    String inbox = inbox();
    instance.loop.submit(() -> {
      switch (how) {
        case "set" -> instance.runs.set(4, null);
        case "consumers" -> instance.pullFrom(List.of(new Puller.Name("TRIG2", "any-billing")));
        case "silence" -> instance.tick(System.nanoTime() + Duration.ofSeconds(7).toNanos());
        case "reconnect" -> instance.reconnected();
        case "cordon" -> instance.runs.cordon();
        case "drain" -> instance.runs.drain(null);
        default -> {
          instance.stop();
          for (int n = 0; n < 5; n++) {
            instance.tick(System.nanoTime());
          }
        }
      }
    }).get();
    nats.deliver(NatsMessage.builder().subject(inbox).replyTo(Triggers.REPLY).data(Triggers.raw("").toString()).build());
    FakeNats.until(() -> nats.has(Triggers.REPLY, answer));
    nats.pong.complete(true);
    FakeNats.until(() -> !nats.listeners.containsKey(inbox));
  }

  @Test
  void whatNatsSaysOfARequestThatWasGivenUpSaysNothingOfItsConsumer() throws Exception {
    instance.broker.use(nats.connection);
    slots(8);
    String inbox = inbox();
    puller.release();
    Status gone = new Status(409, "Consumer Deleted");
    nats.deliver(new NatsMessage("any", null, null) {
      @Override
      public String getSubject() {
        return inbox;
      }

      @Override
      public boolean isStatusMessage() {
        return true;
      }

      @Override
      public Status getStatus() {
        return gone;
      }
    });
    instance.loop.submit(() -> { }).get();
    puller.look(System.nanoTime());
    assertEquals(List.of(8), batches()); // NATS may not have heard yet that the first was given up
    nats.pong.complete(true);
    untilQuiet();
    puller.look(System.nanoTime());
    assertEquals(List.of(8, 8), batches());
  }
}
