package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;

/** The connection to NATS: it publishes, asks, and listens. Any thread may use it. */
final class Broker {
  private static final Logger LOG = Log.of(io.carillon.executor.Executor.class);
  private static final Duration ANSWER = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(2); // with a NATS that may be away
  private static final int HEADROOM = 4 << 10; // for headers, which count in NATS' limit

  // Of its own, since that of CompletableFuture outlives the executor, and what waits for its threads, such as Maven.
  private final ScheduledThreadPoolExecutor timer = timer();
  private volatile Connection nc;
  private volatile Dispatcher dispatcher;
  private volatile boolean closed;

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, r -> {
      Thread t = new Thread(r, "carillon-timer");
      t.setDaemon(true);
      return t;
    });
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** Uses a connection from now on. What listened to the one before is gone with it. */
  void use(Connection connection) {
    nc = connection;
    dispatcher = connection.createDispatcher();
  }

  /** Whether this is the connection that is used. */
  boolean uses(Connection connection) {
    return nc == connection;
  }

  boolean isConnected() {
    Connection c = nc;
    return c != null && c.getStatus() == Connection.Status.CONNECTED;
  }

  /** The most bytes that a message may have. */
  long maxPayload() {
    long most = nc.getMaxPayload();
    return most <= 0 ? Long.MAX_VALUE : most - HEADROOM;
  }

  /** Publishes once. While NATS is away the message waits, or is lost. */
  void publish(String subject, String reply, Headers headers, byte[] data) {
    try {
      nc.publish(NatsMessage.builder().subject(subject).replyTo(reply).headers(headers).data(data).build());
    } catch (IllegalStateException | IllegalArgumentException e) {
      LOG.debug("not published on {}: {}", subject, e.getMessage());
    }
  }

  /** Answers a trigger. */
  void answer(String reply, String text) {
    publish(reply, null, null, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A new inbox of the group. */
  String inbox() {
    return nc.createInbox();
  }

  /** Listens to a subject, for as long as the connection lasts. */
  void listen(String subject, Consumer<Message> handler) {
    dispatcher.subscribe(subject, handler::accept);
  }

  /** Inboxes on the connection of now. */
  Inboxes inboxes() {
    return new Inboxes(nc, nc.createDispatcher());
  }

  /** Inboxes that are given up together. */
  record Inboxes(Connection connection, Dispatcher dispatcher) {
    /** Listens to an inbox, until the returned action is run. What has come by then and is not heard, is not heard any more. */
    Runnable listen(String inbox, Consumer<Message> handler) {
      Subscription sub = dispatcher.subscribe(inbox, handler::accept);
      return () -> {
        try {
          dispatcher.unsubscribe(sub);
        } catch (IllegalStateException e) {
          // the connection is gone, and the subscription with it
        }
      };
    }

    /** Gives all up, and returns when everything is heard that NATS had sent by the time that it learned of it. */
    void drain() throws InterruptedException {
      try {
        dispatcher.drain(PATIENCE).get();
      } catch (IllegalStateException | ExecutionException e) {
        LOG.debug("pull requests are gone with their connection: {}", e.getMessage());
      }
    }
  }

  /** Waits until NATS has everything that was published, and everything that it had sent is here. */
  void flush() throws InterruptedException {
    try {
      nc.flush(PATIENCE);
    } catch (TimeoutException | IllegalStateException e) {
      LOG.debug("flush: {}", e.getMessage());
    }
  }

  /** Asks, and waits for the answer. */
  Message request(String subject, Headers headers, byte[] data, Duration timeout) throws IOException, InterruptedException {
    return await(ask(subject, headers, data, timeout));
  }

  private CompletableFuture<Message> ask(String subject, Headers headers, byte[] data, Duration timeout) {
    try {
      Message m = NatsMessage.builder().subject(subject).headers(headers).data(data).build();
      // A future of our own: that of the client is cancelled when it fails.
      CompletableFuture<Message> answer = nc.requestWithTimeout(m, timeout).thenApply(a -> a);
      ScheduledFuture<?> late = timer.schedule(() -> answer.completeExceptionally(new TimeoutException()), timeout.toMillis() + 1000, TimeUnit.MILLISECONDS);
      answer.whenComplete((a, error) -> late.cancel(false));
      return answer;
    } catch (IllegalStateException | IllegalArgumentException | RejectedExecutionException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Publishes once and completes with JetStream's acknowledgement, or with a {@link Refused}. */
  CompletableFuture<JsonNode> store(String subject, Headers headers, byte[] data) {
    return ask(subject, headers, data, ANSWER).thenApply(m -> {
      try {
        JsonNode answer = Json.parse(m.getData());
        if (answer.has("error")) {
          throw new CompletionException(new Refused(answer.get("error")));
        }
        if (!answer.hasNonNull("stream")) {
          throw new IOException("what came is no acknowledgement");
        }
        return answer;
      } catch (IOException e) {
        throw new CompletionException(e);
      }
    });
  }

  /** Publishes once and waits for JetStream's acknowledgement. */
  void stored(String subject, Headers headers, byte[] data) throws IOException, InterruptedException {
    await(store(subject, headers, data));
  }

  /**
   * Publishes until JetStream has it, and completes then; with an error once the connection is closed, or if that is
   * {@code hopeless}. It asks for the data at each try, and runs {@code onRepeat} before each but the first.
   */
  CompletableFuture<Void> storeAtLast(String subject, Headers headers, Supplier<byte[]> data, Predicate<Throwable> hopeless, Runnable onRepeat) {
    return storeAtLast(subject, headers, data, hopeless, onRepeat, 250, new Doubling());
  }

  private CompletableFuture<Void> storeAtLast(String subject, Headers headers, Supplier<byte[]> data, Predicate<Throwable> hopeless, Runnable onRepeat,
      long pause, Doubling tries) {
    return tried(subject, headers, data).handle((stored, error) -> {
      if (error == null) {
        return CompletableFuture.<Void>completedFuture(null);
      }
      if (closed || hopeless.test(error)) {
        return CompletableFuture.<Void>failedFuture(error);
      }
      tries.warn("not stored by NATS, tried again: {}: {}", subject, textOf(error));
      CompletableFuture<Void> due = new CompletableFuture<>();
      timer.schedule(() -> due.complete(null), pause, TimeUnit.MILLISECONDS);
      return due.thenRun(onRepeat).thenCompose(nothing -> storeAtLast(subject, headers, data, hopeless, onRepeat, Math.min(2 * pause, 5000), tries));
    }).thenCompose(next -> next);
  }

  /** Publishes once; whatever that throws is a reason to try again. */
  private CompletableFuture<JsonNode> tried(String subject, Headers headers, Supplier<byte[]> data) {
    try {
      return store(subject, headers, data.get());
    } catch (Throwable t) {
      return CompletableFuture.failedFuture(t);
    }
  }

  private static Throwable causeOf(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
  }

  private static String textOf(Throwable error) {
    Throwable cause = causeOf(error);
    return cause instanceof TimeoutException || cause instanceof CancellationException || cause.getMessage() == null ? "no answer" : cause.getMessage();
  }

  /** Publishes until JetStream has it, and waits for that. False if the connection was closed before. */
  boolean untilStored(String subject, Headers headers, Supplier<byte[]> data) throws InterruptedException {
    try {
      storeAtLast(subject, headers, data, error -> false, () -> { }).get();
      return true;
    } catch (ExecutionException e) {
      LOG.debug("not stored before the end: {}: {}", subject, textOf(e.getCause()));
      return false;
    }
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Refused r) {
        throw r;
      }
      throw new IOException(textOf(e.getCause()), e.getCause());
    } catch (CancellationException e) {
      throw new IOException("no answer", e);
    }
  }

  void close() throws InterruptedException {
    closed = true;
    timer.shutdownNow();
    Connection c = nc;
    if (c != null) {
      c.close();
    }
  }
}
