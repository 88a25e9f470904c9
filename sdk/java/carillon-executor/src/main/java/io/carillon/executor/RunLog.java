package io.carillon.executor;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The log of one attempt: numbered lines, in batches, one batch on its way at a time. */
final class RunLog {
  static final int BATCH_LINES = 200;
  static final int BATCH_BYTES = 64 << 10;
  static final int ROOM = 1 << 20; // bytes of lines that wait
  private static final int COST = 128; // of a line, beside its text
  private static final long DELAY = 100; // ms that a line waits for more of its batch
  private static final long STALL = TimeUnit.SECONDS.toNanos(1); // how long the stream may take before lines are dropped
  private static final long LINGER = 15; // s that the end of a run waits for its lines

  private static final int PARTS = 20; // of a message that are searched for in what the run printed
  private static final int TAIL = 8 << 10; // characters of what the run printed last, for the last line
  private static final Pattern PART = Pattern.compile("^|[:;]\\s*");

  /** A line that waits. */
  private record Line(long seq, String at, String level, String output, String text, int bytes) {}

  private final NatsClock time;
  private final ScheduledExecutorService clock;
  private final Function<ArrayNode, CompletableFuture<?>> send;
  private final long maxLines;
  private final long maxBytes;
  private final CompletableFuture<Void> empty = new CompletableFuture<>();
  private volatile UnaryOperator<String> mask = UnaryOperator.identity();

  // Guarded by this.
  private final Deque<Line> waiting = new ArrayDeque<>();
  private long size;
  private long seq;
  private int count;
  private long dropped; // for want of room, since the last batch
  private long lost; // for want of room, in all
  private long lines;
  private long bytes;
  private final StringBuilder tail = new StringBuilder(); // of what the run printed
  private long over; // dropped because the log is full
  private boolean hurried; // a batch is full, and will be sent at once
  private boolean sending;
  private int onTheirWay; // lines of the batch that is sent
  private long batches; // so far
  private boolean stalled; // the stream does not take lines
  private boolean closed;

  /** A log of at most so many lines and bytes, beside what the executor says. */
  RunLog(NatsClock time, ScheduledExecutorService clock, int delivered, Function<ArrayNode, CompletableFuture<?>> send,
      long maxLines, long maxBytes) {
    this.time = time;
    this.clock = clock;
    this.seq = (delivered - 1) * 1_000_000_000L;
    this.send = send;
    this.maxLines = maxLines;
    this.maxBytes = maxBytes;
  }

  void mask(UnaryOperator<String> with) {
    mask = with;
  }

  String masked(String text) {
    return mask.apply(text);
  }

  /** Logs a text, a line for each of its lines. It never throws and never waits. */
  void add(String output, String level, String text) {
    add(output, level, text, false);
  }

  /** Logs a text as {@link #add}, and waits while there is no room and the stream takes lines: for threads of handlers. */
  void write(String output, String level, String text) {
    add(output, level, text, true);
  }

  private void add(String output, String level, String text, boolean waits) {
    String at = Wire.instant(time.now());
    for (String line : Lines.of(mask.apply(String.valueOf(text)))) {
      append(output, level, line, at, waits);
    }
  }

  /** Logs what the executor has to say about the run. */
  void system(String level, String text) {
    add("system", level, text);
  }

  /** Logs how the run ended and why, without the part of the message that the run has just printed. */
  void end(String status, String message) {
    String why = unprinted(message);
    system("error", "the run ended as " + status + (why.isEmpty() ? "" : ": " + why));
  }

  /** A message without its end, from its beginning or a colon or semicolon on, that ends a line of the tail. */
  private synchronized String unprinted(String message) {
    Matcher part = PART.matcher(message);
    for (int n = 0; n < PARTS && part.find(); n++) {
      if (endsLine(message.substring(part.end()))) {
        return message.substring(0, part.start());
      }
    }
    return message;
  }

  /** Whether a line of the tail ends with a text, from the start of a word on. If the text was cut, it need not be the end. */
  private boolean endsLine(String text) {
    String printed = text.endsWith(Lines.MARK) ? text.substring(0, text.length() - Lines.MARK.length()) : text + "\n";
    if (text.isEmpty() || printed.isEmpty()) {
      return false;
    }
    for (int at = tail.indexOf(printed); at >= 0; at = tail.indexOf(printed, at + 1)) {
      if (at == 0 || !Character.isLetterOrDigit(tail.codePointBefore(at)) && tail.charAt(at - 1) != '_') {
        return true;
      }
    }
    return false;
  }

  /** Keeps the end of what the run printed. */
  private void keep(String text) {
    if (tail.length() > 2 * TAIL) {
      tail.delete(0, tail.length() - TAIL);
    }
    tail.append(text, Math.max(0, text.length() - TAIL), text.length()).append('\n');
  }

  private synchronized void append(String output, String level, String text, String at, boolean waits) {
    if (closed) {
      return;
    }
    int n = JsonStringEncoder.getInstance().quoteAsUTF8(text).length;
    if (!output.equals("system")) {
      if (over > 0 || lines >= maxLines || bytes + n > maxBytes) {
        if (over++ == 0) {
          append("system", "warn", "the log of this attempt is full: it may have " + maxLines + " lines and " + maxBytes
              + " bytes; what follows is counted and dropped", at, false);
        }
        return;
      }
      lines++;
      bytes += n;
      keep(text);
    }
    if (waits && !hasRoom(n)) {
      awaitRoom(n);
    }
    if (closed) {
      return;
    }
    while (!hasRoom(n) && !waiting.isEmpty()) {
      size -= waiting.poll().bytes() + COST;
      dropped++;
      lost++;
    }
    count++;
    waiting.add(new Line(++seq, at, level, output, text, n));
    size += n + COST;
    if (!hurried && isFull()) {
      hurried = true;
      later(this::pump, 0);
    } else if (waiting.size() == 1) {
      later(this::pump, DELAY);
    }
  }

  private boolean hasRoom(int bytes) {
    return size + bytes + COST <= ROOM;
  }

  /** Waits until there is room, unless the stream takes no lines. An interrupt, which tells a handler to end, is kept for it. */
  private void awaitRoom(int bytes) {
    boolean interrupted = false;
    while (!hasRoom(bytes) && !stalled && !closed) {
      long seen = batches;
      long end = System.nanoTime() + STALL;
      for (long left = STALL; batches == seen && !stalled && !closed && left > 0; left = end - System.nanoTime()) {
        try {
          TimeUnit.NANOSECONDS.timedWait(this, left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      stalled |= batches == seen && !closed;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean isFull() {
    return waiting.size() >= BATCH_LINES || size >= BATCH_BYTES;
  }

  /** Sends a batch if one waits and none is on its way. */
  private synchronized void pump() {
    hurried = false;
    if (sending) {
      return;
    }
    if (waiting.isEmpty() && dropped == 0) {
      if (closed) {
        empty.complete(null);
      }
      return;
    }
    sending = true;
    offer(batch(), 250);
  }

  /** Sends a batch until it is stored. */
  private void offer(ArrayNode batch, long pause) {
    send.apply(batch).whenComplete((answer, error) -> {
      boolean isOver = empty.isDone(); // the end of the run has waited long enough
      if (error == null) {
        stored(isOver);
      } else if (!isOver) {
        stalled();
        later(() -> offer(batch, Math.min(2 * pause, 5000)), pause);
      }
    });
  }

  private synchronized void stored(boolean isOver) {
    sending = false;
    stalled = false;
    onTheirWay = 0;
    if (!isOver) {
      later(this::pump, closed || isFull() ? 0 : DELAY);
    }
  }

  private synchronized void stalled() {
    stalled = true;
    notifyAll();
  }

  private synchronized ArrayNode batch() {
    ArrayNode batch = JsonNodeFactory.instance.arrayNode();
    if (dropped > 0) {
      long last = waiting.isEmpty() ? seq : waiting.peek().seq() - 1;
      add(batch, new Line(last, Wire.instant(time.now()), "warn", "system",
          dropped == 1 ? "1 line was dropped here: the log stream did not take it in time"
              : dropped + " lines were dropped here: the log stream did not take them in time", 0));
      dropped = 0;
    }
    int n = 0;
    while (!waiting.isEmpty() && batch.size() < BATCH_LINES && (n == 0 || n + waiting.peek().bytes() <= BATCH_BYTES)) {
      Line line = waiting.poll();
      n += line.bytes();
      size -= line.bytes() + COST;
      add(batch, line);
      onTheirWay++;
    }
    batches++;
    notifyAll();
    return batch;
  }

  private static void add(ArrayNode batch, Line line) {
    batch.addObject().put("seq", line.seq()).put("at", line.at()).put("level", line.level()).put("output", line.output()).put("text", line.text());
  }

  /** Ends the log. It completes with the number of lines, when all are stored, or after a while. */
  CompletableFuture<Integer> close() {
    synchronized (this) {
      if (over > 0) {
        append("system", "warn", over + " lines were dropped here: the log was full", Wire.instant(time.now()), false);
      }
      closed = true;
      notifyAll();
      if (waiting.isEmpty() && dropped == 0 && !sending) {
        empty.complete(null);
        return CompletableFuture.completedFuture(count);
      }
    }
    later(this::pump, 0);
    CompletableFuture<Void> late = empty; // all that is kept for so long
    later(() -> late.complete(null), TimeUnit.SECONDS.toMillis(LINGER));
    return empty.thenApply(nothing -> counted());
  }

  /** What is wrong with the log, for the message of the run; "" if nothing is. */
  synchronized String note() {
    return lost == 0 ? "" : "the log is incomplete: NATS did not take " + lost + " of " + count + " lines in time";
  }

  /** How many lines were given up, once the log has ended. */
  synchronized long lost() {
    return lost + onTheirWay + waiting.size();
  }

  private synchronized int counted() {
    return count;
  }

  private void later(Runnable act, long millis) {
    try {
      clock.schedule(act, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // the executor has stopped, and left the run behind
    }
  }
}
