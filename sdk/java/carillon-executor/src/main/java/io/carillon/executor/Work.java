package io.carillon.executor;

import java.util.function.Consumer;

/** What the thread of an attempt does: claim it, open its secrets, call its handler. */
final class Work implements Runnable {
  private final Instance of;
  private final Trigger trigger;
  private final int delivered;
  private final LiveRun run;
  private final Consumer<End> then;
  private volatile Claim claim;
  private volatile boolean called;

  // Guarded by this.
  private Thread thread; // while the work may be interrupted
  private boolean interrupted;

  /** How the work ended: another instance has the attempt, or there is a result, or something was thrown. */
  record End(boolean claimedElsewhere, Results.Result result, Throwable thrown) {}

  /** The loop calls {@code then}, once. */
  Work(Instance of, Trigger trigger, int delivered, LiveRun run, Consumer<End> then) {
    this.of = of;
    this.trigger = trigger;
    this.delivered = delivered;
    this.run = run;
    this.then = then;
  }

  @Override
  public void run() {
    begin();
    End end;
    try {
      end = call();
    } catch (Throwable t) { // an Error, too, ends the attempt, and not the executor
      end = new End(false, null, t);
    }
    finish();
    End told = end;
    of.onLoop(() -> then.accept(told));
  }

  private End call() throws Exception {
    of.metrics.began(); // here, as what is made at the first time would hold up the loop
    if (trigger.task().has("secrets")) {
      run.secrets(Secrets.fetch(of.broker, of.settings, trigger.task()));
    }
    run.check();
    if (trigger.atMostOnce()) { // last, since what is claimed and then given back is lost
      claim = Claim.of(of.broker, of.settings, trigger, delivered);
      if (claim == null) {
        return new End(true, null, null);
      }
      run.check();
    }
    called = true;
    return new End(false, of.handlers.call(run), null);
  }

  /** Whether no other instance may have the attempt. */
  boolean isOurs() {
    return claim != null || !trigger.atMostOnce();
  }

  /** Whether the attempt may be done again: its handler was not called, or may be called twice. */
  boolean isRepeatable() {
    return !called || !trigger.atMostOnce();
  }

  private synchronized void begin() {
    thread = Thread.currentThread();
    if (interrupted) {
      thread.interrupt();
    }
  }

  /** From here on the thread is not this attempt's any more. */
  private synchronized void finish() {
    thread = null;
    Thread.interrupted();
  }

  /** Interrupts the thread if it works. */
  synchronized void interrupt() {
    interrupted = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** Lets the claim go, if there was one. */
  void endClaim() {
    Claim c = claim;
    if (c != null) {
      c.ended();
    }
  }
}
