package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PullerTest {
  private final FakeNats nats = new FakeNats();
  private final Instance instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i").slots(8), Map.of()), new Handlers());
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
}
