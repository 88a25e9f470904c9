package io.carillon.executor;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.impl.NatsMessage;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/** A connection that keeps what is published and, unless told otherwise, acknowledges it. */
final class FakeNats {
  final List<Message> sent = new CopyOnWriteArrayList<>();
  volatile boolean refuses;
  volatile long maxPayload = 1 << 20;
  final Connection connection = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, a) ->
      switch (method.getName()) {
        case "publish" -> keep((Message) a[0]);
        case "requestWithTimeout" -> answer((Message) a[0]);
        case "createDispatcher" -> Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Dispatcher.class}, (p, m, b) -> null);
        case "createInbox" -> "_INBOX_billing.x";
        case "getStatus" -> Connection.Status.CONNECTED;
        case "getMaxPayload" -> maxPayload;
        default -> null;
      });

  private Object keep(Message m) {
    sent.add(m);
    return null;
  }

  private CompletableFuture<Message> answer(Message m) {
    sent.add(m);
    String text = refuses ? "{\"error\": {\"err_code\": 10077, \"description\": \"full\"}}" : "{\"stream\": \"EVT\", \"seq\": 1}";
    return CompletableFuture.completedFuture(NatsMessage.builder().subject("answer").data(text).build());
  }

  /** Whether there was a message on the subject that begins so. */
  boolean has(String subject, String data) {
    return sent.stream().anyMatch(m -> m.getSubject().equals(subject) && new String(m.getData(), StandardCharsets.UTF_8).startsWith(data));
  }

  /** The last message on a subject. */
  byte[] last(String subject) {
    return sent.stream().filter(m -> m.getSubject().equals(subject)).reduce((a, b) -> b).orElseThrow().getData();
  }

  static void until(BooleanSupplier condition) throws InterruptedException {
    for (long end = System.nanoTime() + Duration.ofSeconds(10).toNanos(); !condition.getAsBoolean(); ) {
      if (System.nanoTime() > end) {
        throw new AssertionError("it did not happen within 10 s");
      }
      Thread.sleep(5);
    }
  }
}
