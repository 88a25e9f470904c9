package io.carillon.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PullerTest {
  private final FakeNats nats = new FakeNats();
  private final Instance instance = new Instance(Settings.of(Options.fromEnvironment().group("billing").instance("i").slots(8), Map.of()), new Handlers());
  private final Puller puller = new Puller(instance);

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
