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

  /**
   * What follows from what a handler returned, or threw. {@code run} says whether it had to end. What is not repeatable
   * is lost instead of given back. The log gets the stack trace of a failure that does not explain itself.
   */
  static Outcome of(LiveRun run, Results.Result result, Throwable thrown, boolean repeatable) {
    Ending ending = run.ending();
    if (thrown == null) {
      return ending == null || ending == Ending.STOPPING ? of(result) : ended(run, "", repeatable);
    }
    try {
      if (ending != null) {
        return ended(run, thrown instanceof RunEndedException || thrown instanceof InterruptedException ? "" : messageOf(thrown), repeatable);
      }
      if (!(thrown instanceof RunFailedException)) {
        run.trace(thrown);
      }
      Duration after = thrown instanceof RetryAfterException r ? r.delay() : null;
      return new Outcome("failed", messageOf(thrown), null, thrown instanceof FinalException, after);
    } catch (Throwable t) { // from an exception that cannot say what it is
      return ending == null ? of("failed", "the handler threw " + thrown.getClass().getName()) : ended(run, "", repeatable);
    }
  }

  /** The same with one thing more in its message; "" is none. */
  Outcome noting(String note) {
    return new Outcome(status, join(message, note), result, isFinal, retryAfter);
  }

  /** A run whose handler has ignored for so long that it has to end. */
  static Outcome abandoned(LiveRun run, Duration patience, boolean repeatable) {
    return ended(run, "the handler did not stop within " + patience.toSeconds() + "s and was abandoned", repeatable);
  }

  /** A run that had to end. */
  private static Outcome ended(LiveRun run, String said, boolean repeatable) {
    return switch (run.ending()) {
      case TIMED_OUT -> of("timed_out", join(run.endingText(), said));
      case CANCELLED -> of("cancelled", join(run.endingText(), said));
      case STOPPING -> repeatable ? GIVEN_BACK
          : of("lost", join("the executor stopped before the run could end, and delivery at_most_once forbids to run it again", said));
    };
  }

  /** Reasons that belong together as one text; "" is none. */
  static String join(String one, String other) {
    return one.isEmpty() || other.isEmpty() ? one + other : one + "; " + other;
  }

  private static String messageOf(Throwable t) {
    String type = t.getClass().getSimpleName().isEmpty() ? t.getClass().getName() : t.getClass().getSimpleName();
    String said = t.getMessage();
    return said == null || said.isBlank() ? type : t instanceof RunFailedException ? said : type + ": " + said;
  }
}
