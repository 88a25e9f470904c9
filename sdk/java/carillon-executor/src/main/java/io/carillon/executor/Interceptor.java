package io.carillon.executor;

/** Is called around each handler, for example to open a transaction or to count. */
@FunctionalInterface
public interface Interceptor {
  /** Calls the handler by {@code next.call()}, and returns its result or another one. */
  Object intercept(Run run, Call next) throws Exception;

  /** The next interceptor, or the handler itself. */
  @FunctionalInterface
  interface Call {
    /** Calls it, and returns its result. */
    Object call() throws Exception;
  }
}
