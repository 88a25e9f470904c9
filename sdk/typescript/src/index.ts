/**
 * Handlers for Carillon in TypeScript and JavaScript.
 *
 *     const app = new Executor({ group: "billing" });
 *     app.handler("report", async (run) => {
 *       run.log.info("begun");
 *       return { written: 1 };
 *     });
 *     await app.run();
 */

export { Cancelled, ConfigurationError, ConflictError, Ending, Final, RetryAfter, StartRefused, Stopping, TimedOut } from "./errors";
export { Executor, type ExecutorOptions, type Setup } from "./executor";
export type { HandlerOptions, Middleware, Work } from "./handler";
export { type Fields, type Level, Logger } from "./log";
export { currentRun, type Run } from "./run";
export type { JsonSchema, Schema } from "./schema";
export type { Options } from "./settings";
export type { StartOptions } from "./starts";
