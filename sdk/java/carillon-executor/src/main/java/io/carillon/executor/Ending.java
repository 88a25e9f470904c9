package io.carillon.executor;

/** Why a run has to end. */
public enum Ending {
  /** It took longer than its timeout. */
  TIMED_OUT,
  /** Somebody cancelled it. */
  CANCELLED,
  /** The executor stops. A run that throws now is given back, and another instance does it. */
  STOPPING
}
