package io.carillon.executor;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import org.slf4j.Logger;

/** One attempt of a run, as its handler sees it. Any thread may call its methods. */
public interface Run {
  /** The run whose handler calls; null outside of handlers. */
  static Run current() {
    return CurrentRun.get();
  }

  /** The run's id, a UUID. Attempts share it. */
  String id();

  /** The job's name, such as {@code billing/report}. */
  String job();

  /** The name of the handler. */
  String handler();

  /** Counts the tries of the run, from 1. */
  int attempt();

  /** Counts how often this attempt has reached an executor, from 1. */
  int delivered();

  /** Greater than for every earlier attempt of any run: refuse writes with a smaller one. */
  long fence();

  /** The instant that the schedule named. Lateness and retries do not move it. */
  Instant fireTime();

  /** Why the run began: {@code schedule}, {@code manual}, {@code retry} and so on. */
  String cause();

  /** The name of the workflow's step that this run does; "" if it does none. */
  String step();

  /** The parameters as JSON has them; null without any. */
  JsonNode params();

  /** What this piece of a split run is about; null otherwise. */
  JsonNode item();

  /** Which piece of how many; 0 of 1 in a run without pieces. */
  Piece piece();

  /** Whether this attempt returns the list of the run's pieces instead of doing its work. */
  boolean split();

  /** A secret of the job's task, by its variable; "" without. */
  String secret(String variable);

  /** A logger whose lines go to the run's log, and nowhere else. */
  Logger log();

  /** Says how far the run is, in percent, without a text. */
  default void progress(double percent) {
    progress(percent, "");
  }

  /** Says how far the run is, in percent. The latest is published, at most once a second. */
  void progress(double percent, String text);

  /** Starts a run of a job of the group, which is due at once; see {@link #start(String, Object, StartOptions)}. */
  default String start(String job, Object params) throws InterruptedException {
    return start(job, params, StartOptions.now());
  }

  /**
   * Starts a run of a job of the group and returns its id. Its parent is this run. {@code params} is anything that
   * Jackson writes, in the place of the job's; null are the job's.
   *
   * <p>A further attempt of this run that starts the same job with the same params gets the run that was started
   * before. So give params that are the same in each attempt, without the time of day. Two such calls within an
   * attempt start two runs. It throws {@link StartRefusedException}, after a minute if no server answers.
   */
  String start(String job, Object params, StartOptions options) throws InterruptedException;

  /** The W3C trace context of the attempt, for what it calls; "" without. */
  String traceParent();

  /** Why the run has to end; null while it need not. */
  Ending ending();

  /** Whether the run has to end. Look at it between two steps. */
  default boolean cancelled() {
    return ending() != null;
  }

  /** Throws {@link RunEndedException} if the run has to end. Call it between two steps. */
  void check();
}
