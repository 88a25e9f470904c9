/**
 * Handlers for Carillon.
 *
 * <p>Register handlers with {@link io.carillon.executor.Handlers}, and run them with
 * {@link io.carillon.executor.Executor}:
 *
 * <pre>{@code
 * record Report(String region, int rows) {}
 *
 * Handlers handlers = new Handlers();
 * handlers.register("report", Report.class, Integer.class, (run, p) -> {
 *   run.log().info("begun {}", p.region());
 *   return p.rows();
 * });
 * Executor.run(Options.fromEnvironment().group("billing"), handlers);
 * }</pre>
 *
 * <p>An executor pulls triggers from NATS, calls their handlers, and reports how they ended. If it
 * dies, another instance of its group does its runs. {@link io.carillon.executor.HandlerTest} runs
 * a handler in a unit test, without a broker.
 *
 * <p>Everything that is not public speaks docs/reference/protocol.md. All state of an instance
 * belongs to one thread, the loop of {@code Instance}; handlers and reports have threads of their
 * own.
 */
package io.carillon.executor;
