package io.carillon.client;

import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** Reads an answer up to a limit. One that is too long is cut, and still longer than the limit. */
final class Bounded implements BodySubscriber<byte[]> {
  private final int most;
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private byte[] read = new byte[4096];
  private int length;
  private Flow.Subscription subscription;

  Bounded(int most) {
    this.most = most;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription s) {
    subscription = s;
    s.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> pieces) {
    for (ByteBuffer piece : pieces) {
      int more = Math.min(piece.remaining(), most + 1 - length);
      if (length + more > read.length) {
        read = Arrays.copyOf(read, Math.max(length + more, 2 * read.length));
      }
      piece.get(read, length, more);
      length += more;
    }
    if (length > most) {
      subscription.cancel();
      onComplete();
    }
  }

  @Override
  public void onError(Throwable why) {
    body.completeExceptionally(why);
  }

  @Override
  public void onComplete() {
    body.complete(Arrays.copyOf(read, length));
  }
}
