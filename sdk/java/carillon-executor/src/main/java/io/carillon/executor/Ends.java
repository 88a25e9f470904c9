package io.carillon.executor;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.nats.client.impl.Headers;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * Stores the ends of attempts. An end for which nobody waits is sent at once while no other is on its way. Else it waits
 * until that one is stored, and goes with what has come meanwhile. Any thread may use it.
 */
final class Ends {
  private static final int MAX_ENDS = 256; // of a pack
  private static final int MAX_PACK = 256 << 10; // in bytes
  private static final int MAX_END = 32 << 10; // of one end in a pack

  /** NATS takes no message of this size any more. */
  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** The end of an attempt: an event, and the line of a pack that it may be instead. */
  private record End(String subject, Headers headers, ObjectNode event, byte[] line, CompletableFuture<Void> stored) {
    static End of(String subject, Headers headers, ObjectNode event) {
      byte[] line = Json.bytes(event.deepCopy().put("token", Trigger.header(headers, Wire.TOKEN)));
      return new End(subject, headers, event, line, new CompletableFuture<>());
    }
  }

  private final Instance of;
  private final Map<String, List<End>> waiting = new HashMap<>(); // by the subject of packs; one that is being sent to has an entry

  Ends(Instance of) {
    this.of = of;
  }

  /**
   * Publishes an end until it is stored, and completes then; with an error once the connection is closed. {@code report}
   * is where it may go in a pack; "" if somebody waits for it.
   */
  CompletableFuture<Void> store(String report, String subject, Headers headers, ObjectNode event) {
    End end = End.of(subject, headers, event);
    if (report.isEmpty()) {
      return alone(end);
    }
    synchronized (waiting) {
      List<End> others = waiting.putIfAbsent(report, new ArrayList<>(List.of(end)));
      if (others != null) {
        others.add(end);
        return end.stored;
      }
    }
    send(report);
    return end.stored;
  }

  /** Sends what waits, message after message. */
  private void send(String report) {
    List<End> ends = List.of();
    CompletableFuture<?> sent;
    try {
      ends = take(report);
      if (ends.isEmpty()) {
        return;
      }
      sent = ends.size() > 1 ? together(report, ends) : alone(ends.get(0));
    } catch (Throwable t) { // such as an OutOfMemoryError
      ends.forEach(end -> settle(end, t));
      giveUp(report, t);
      return;
    }
    sent.whenComplete((nothing, error) -> send(report));
  }

  /** Takes out the ends that go next; none if none wait. */
  private List<End> take(String report) {
    synchronized (waiting) {
      List<End> all = waiting.get(report);
      if (all.isEmpty()) {
        waiting.remove(report);
        return List.of();
      }
      List<End> first = all.subList(0, fitting(all));
      List<End> ends = List.copyOf(first);
      first.clear();
      return ends;
    }
  }

  private void giveUp(String report, Throwable why) {
    List<End> all;
    synchronized (waiting) {
      all = waiting.remove(report);
    }
    all.forEach(end -> settle(end, why));
  }

  /** How many of the first ends fit into a pack; one, which then goes alone, at least. */
  private int fitting(List<End> all) {
    long room = room() - head(MAX_ENDS).length;
    int n = 0;
    while (n < Math.min(all.size(), MAX_ENDS)) {
      int size = all.get(n).line.length;
      room -= size + 1;
      if (room < 0 || size > MAX_END) {
        break;
      }
      n++;
    }
    return Math.max(n, 1);
  }

  /** Stores ends in one message, or each in its own if NATS has come back with a limit that is too small. */
  private CompletableFuture<Void> together(String report, List<End> ends) {
    ByteArrayOutputStream pack = new ByteArrayOutputStream();
    pack.writeBytes(head(ends.size()));
    for (End end : ends) {
      pack.write('\n');
      pack.writeBytes(end.line);
    }
    Headers headers = new Headers().put(Wire.MESSAGE, "events.v1").put(Wire.MSG_ID, "p:" + Settings.random(16));
    return publish(report, headers, () -> {
      if (pack.size() > room()) {
        throw new TooLarge();
      }
      return pack.toByteArray();
    }).handle((nothing, error) -> {
      if (isTooLarge(error)) {
        return CompletableFuture.allOf(ends.stream().map(this::alone).toArray(CompletableFuture<?>[]::new));
      }
      ends.forEach(end -> settle(end, error));
      return CompletableFuture.<Void>completedFuture(null);
    }).thenCompose(next -> next);
  }

  private CompletableFuture<Void> alone(End end) {
    publish(end.subject, end.headers, () -> Report.fitted(end.event, of.broker.maxPayload())).whenComplete((nothing, error) -> settle(end, error));
    return end.stored;
  }

  private static void settle(End end, Throwable error) {
    if (error == null) {
      end.stored.complete(null);
    } else {
      end.stored.completeExceptionally(error);
    }
  }

  private CompletableFuture<Void> publish(String subject, Headers headers, Supplier<byte[]> data) {
    return of.broker.storeAtLast(subject, headers, data, Ends::isTooLarge, () -> of.metrics.count(Metrics.Count.EVENT_PUBLISH_RETRIES, 1));
  }

  private static boolean isTooLarge(Throwable error) {
    return error instanceof TooLarge || error instanceof CompletionException && error.getCause() instanceof TooLarge;
  }

  private long room() {
    return Math.min(MAX_PACK, of.broker.maxPayload());
  }

  private byte[] head(int ends) {
    return Json.bytes(Json.object().put("instance", of.settings.instance()).put("ends", ends));
  }
}
