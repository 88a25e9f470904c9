package io.carillon.executor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.MDC;

/**
 * The run that a thread works for. The MDC has a key of it, so that a thread to which a handler hands its
 * MDC logs to the same run.
 */
final class CurrentRun {
  /** The name of the key in the MDC. */
  static final String KEY = "carillon_run";

  private static final ThreadLocal<LiveRun> CURRENT = new ThreadLocal<>();
  private static final Map<String, LiveRun> LIVE = new ConcurrentHashMap<>();

  private CurrentRun() {}

  static LiveRun get() {
    return CURRENT.get();
  }

  /** The run that an MDC names; null if there is none. */
  static LiveRun of(Map<String, String> mdc) {
    String key = mdc == null ? null : mdc.get(KEY);
    return key == null ? null : LIVE.get(key);
  }

  /** Calls with the run as the current one. */
  static Object with(LiveRun run, Interceptor.Call call) throws Exception {
    String key = run.id() + ":" + run.attempt() + ":" + run.piece().index();
    CURRENT.set(run);
    LIVE.put(key, run);
    MDC.put(KEY, key);
    try {
      return call.call();
    } finally {
      MDC.remove(KEY);
      LIVE.remove(key);
      CURRENT.remove();
    }
  }
}
