package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;

/**
 * How an attempt ends.
 *
 * @param status as the protocol has it; "" gives the attempt back
 * @param message why
 * @param result null if there is none
 * @param isFinal no attempt may follow
 * @param retryAfter when the next is due; null for the job's rule
 */
record Outcome(String status, String message, JsonNode result, boolean isFinal, Duration retryAfter) {
  /** The attempt is given back, for another instance. */
  static final Outcome GIVEN_BACK = of("", "");

  static Outcome of(String status, String message) {
    return new Outcome(status, message, null, false, null);
  }

  static Outcome of(Results.Result result) {
    return new Outcome("succeeded", result.note(), result.value(), false, null);
  }

  /** What follows from what a handler threw. {@code run} says whether it had to end. What is not repeatable is lost instead of given back. */
  static Outcome of(Throwable thrown, LiveRun run, boolean repeatable) {
    String said = thrown instanceof RunEndedException || thrown instanceof InterruptedException ? "" : messageOf(thrown);
    Ending ending = run.ending();
    if (ending == null) {
      Duration after = thrown instanceof RetryAfterException r ? r.delay() : null;
      return new Outcome("failed", messageOf(thrown), null, thrown instanceof FinalException, after);
    }
    if (ending == Ending.STOPPING) {
      return repeatable ? GIVEN_BACK : of("lost", "the executor stopped before the run could end, and delivery at_most_once forbids to run it again");
    }
    return ended(run, said);
  }

  /** A run that had to end, and did; also when its handler returned a result after all. */
  static Outcome ended(LiveRun run, String said) {
    String status = run.ending() == Ending.TIMED_OUT ? "timed_out" : "cancelled";
    return of(status, run.endingText() + (said.isEmpty() ? "" : ": " + said));
  }

  /** Whether the handler chose this failure, so that its stack trace tells nothing. */
  static boolean isChosen(Throwable thrown) {
    return thrown instanceof FinalException || thrown instanceof RetryAfterException || thrown instanceof Unfinished;
  }

  private static String messageOf(Throwable t) {
    return t.getMessage() == null || t.getMessage().isBlank() ? t.getClass().getName() : t.getMessage();
  }
}
