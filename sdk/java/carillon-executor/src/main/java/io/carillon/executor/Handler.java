package io.carillon.executor;

/**
 * Does the runs of jobs with {@code task: {handler: NAME}}.
 *
 * <p>It is called by a thread of its own for each run, several at a time. When the run has to end,
 * that thread is interrupted. What it throws fails the run; see {@link FinalException} and
 * {@link RetryAfterException}.
 *
 * @param <P> the type of the parameters, which Jackson reads
 * @param <R> the type of the result, which Jackson writes
 */
@FunctionalInterface
public interface Handler<P, R> {
  /**
   * Does one run. A future that it returns is awaited, in the time of the run, and cancelled with it.
   * {@code params} is null if the job has none and its type has no empty value.
   */
  R handle(Run run, P params) throws Exception;
}
