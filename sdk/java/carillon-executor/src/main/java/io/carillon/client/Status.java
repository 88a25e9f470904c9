package io.carillon.client;

import java.util.Locale;

/** The status of a run. */
public enum Status {
  /** It waits for an executor. */
  PENDING,
  /** It waits for its time, for other runs or for its next attempt. */
  QUEUED,
  /** It runs. */
  RUNNING,
  /** It ended well. */
  SUCCEEDED,
  /** It ended with an error. */
  FAILED,
  /** It took longer than its timeout. */
  TIMED_OUT,
  /** Somebody cancelled it. */
  CANCELLED,
  /** Its executor died. */
  LOST,
  /** It did not run, because of other runs or of a rule of its job. */
  SKIPPED,
  /** It did not begin in time. */
  MISSED,
  /** It has ended: its key is known, and the history does not keep the run any more. */
  ENDED,
  /** A status that this version does not know. */
  UNKNOWN;

  /** Whether a run with this status has ended. */
  public boolean ended() {
    return switch (this) {
      case SUCCEEDED, FAILED, TIMED_OUT, CANCELLED, LOST, SKIPPED, MISSED, ENDED -> true;
      case PENDING, QUEUED, RUNNING, UNKNOWN -> false;
    };
  }

  /** The status as the API writes it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Status of(String text) {
    for (Status s : values()) {
      if (s.text().equals(text)) {
        return s;
      }
    }
    return UNKNOWN;
  }
}
