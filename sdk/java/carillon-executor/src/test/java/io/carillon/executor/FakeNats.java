package io.carillon.executor;

import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.MessageHandler;
import io.nats.client.Subscription;
import io.nats.client.impl.NatsMessage;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A connection that keeps what is published and, unless told otherwise, acknowledges it. */
final class FakeNats {
  final List<Message> sent = new CopyOnWriteArrayList<>();
  /** Who listens to a subject. A dispatcher that is drained listens until NATS answers a PING. */
  final Map<String, MessageHandler> listeners = new ConcurrentHashMap<>();
  final CompletableFuture<Boolean> pong = new CompletableFuture<>();
  /** What a request is answered with; JetStream's acknowledgement unless a test says otherwise. Null: no answer comes. */
  volatile Function<Message, Message> answer = m -> message("{\"stream\": \"EVT\", \"seq\": 1}");
  /** What completes the answer to a request later, unless it is null. */
  volatile Function<Message, CompletableFuture<Message>> later = m -> null;
  volatile boolean refuses;
  /** What publishing throws, unless it is null, so many times at most, and how often something was thrown. */
  volatile Error broken;
  volatile int brokenTimes = Integer.MAX_VALUE;
  /** What asking for the largest payload throws, unless it is null. */
  volatile Error brokenInfo;
  final AtomicInteger thrown = new AtomicInteger();
  volatile long maxPayload = 1 << 20;
  private final AtomicInteger inboxes = new AtomicInteger();
  final Connection connection = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, a) ->
      switch (method.getName()) {
        case "publish" -> keep((Message) a[0]);
        case "requestWithTimeout" -> answer((Message) a[0]);
        case "createDispatcher" -> dispatcher();
        case "createInbox" -> "_INBOX_billing." + inboxes.incrementAndGet();
        case "getStatus" -> Connection.Status.CONNECTED;
        case "getMaxPayload" -> {
          fail(brokenInfo);
          yield maxPayload;
        }
        default -> null;
      });

  private void fail(Error error) {
    if (error != null && thrown.get() < brokenTimes) {
      thrown.incrementAndGet();
      throw error;
    }
  }

  private Object keep(Message m) {
    fail(broken);
    if (m.getData().length > maxPayload) {
      throw new IllegalArgumentException("Message payload size exceed server configuration");
    }
    sent.add(m);
    return null;
  }

  private CompletableFuture<Message> answer(Message m) {
    keep(m);
    CompletableFuture<Message> awaited = later.apply(m);
    if (awaited != null) {
      return awaited;
    }
    Message answered = refuses ? message("{\"error\": {\"err_code\": 10077, \"description\": \"full\"}}") : answer.apply(m);
    return answered == null ? CompletableFuture.failedFuture(new TimeoutException()) : CompletableFuture.completedFuture(answered);
  }

  static Message message(String data) {
    return NatsMessage.builder().subject("answer").data(data).build();
  }

  private Object dispatcher() {
    Set<String> subjects = ConcurrentHashMap.newKeySet();
    return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Dispatcher.class}, (proxy, method, a) -> {
      switch (method.getName()) {
        case "subscribe" -> {
          subjects.add((String) a[0]);
          listeners.put((String) a[0], (MessageHandler) a[1]);
          return subscription((String) a[0]);
        }
        case "unsubscribe" -> listeners.remove(((Subscription) a[0]).getSubject());
        case "drain" -> {
          return pong.whenComplete((drained, error) -> subjects.forEach(listeners::remove));
        }
        default -> { }
      }
      return null;
    });
  }

  private static Object subscription(String subject) {
    return Proxy.newProxyInstance(FakeNats.class.getClassLoader(), new Class<?>[] {Subscription.class},
        (proxy, method, a) -> method.getName().equals("getSubject") ? subject : null);
  }

  /** Delivers to whoever listens to the subject. */
  void deliver(Message m) throws InterruptedException {
    MessageHandler listener = listeners.get(m.getSubject());
    if (listener != null) {
      listener.onMessage(m);
    }
  }

  /** How many messages were published on a subject. */
  long count(String subject) {
    return sent.stream().filter(m -> m.getSubject().equals(subject)).count();
  }

  /** Whether there was a message on the subject that begins so. */
  boolean has(String subject, String data) {
    return sent.stream().anyMatch(m -> m.getSubject().equals(subject) && new String(m.getData(), StandardCharsets.UTF_8).startsWith(data));
  }

  /** The last message on a subject. */
  byte[] last(String subject) {
    return sent.stream().filter(m -> m.getSubject().equals(subject)).reduce((a, b) -> b).orElseThrow().getData();
  }

  /** How long tests wait for what has to happen: longer than a busy machine needs. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  static void until(BooleanSupplier condition) throws InterruptedException {
    for (long end = System.nanoTime() + PATIENCE.toNanos(); !condition.getAsBoolean(); ) {
      if (System.nanoTime() > end) {
        throw new AssertionError("it did not happen within " + PATIENCE);
      }
      Thread.sleep(5);
    }
  }
}
