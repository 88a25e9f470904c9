/** The executor: it pulls triggers, does runs, and reports how they ended. */

import { captureConsole } from "./console";
import { ConfigurationError, ConflictError } from "./errors";
import { Handler, type HandlerOptions, type Middleware, type Work } from "./handler";
import { Instance } from "./instance";
import { type Logger, standardError } from "./log";
import { complete, type Options } from "./settings";
import { MAX_HANDLER_NAMES } from "./wire";

export interface ExecutorOptions extends Options {
  /** Whether console.log and its like, called by handlers, become lines of runs too. Defaults to true. */
  console?: boolean;
  /** Where the executor says what it does. Defaults to standard error. */
  logger?: Logger;
}

type Close = () => unknown;

/** Opens what handlers share, and may return what closes it. */
export type Setup = () => Close | void | Promise<Close | void>;

/** Do work while all is open that is set up, and close it in the reverse order. */
async function within(setups: readonly Setup[], work: () => Promise<void>): Promise<void> {
  const [first, ...rest] = setups;
  if (first === undefined) {
    return await work();
  }
  const close = await first();
  try {
    await within(rest, work);
  } finally {
    await close?.();
  }
}

/**
 * Does the runs of one executor group. What its options leave out is read from the environment, from
 * the variables of `carillon executor`.
 */
export class Executor {
  /** @internal */
  readonly handlers = new Map<string, Handler>();
  /** @internal */
  readonly middleware: Middleware[] = [];
  private readonly setups: Setup[] = [];
  private readonly stopping = new AbortController();
  private readonly hurrying = new AbortController(); // live runs are given back at once
  private leftBehind = 0;

  constructor(private readonly options: ExecutorOptions = {}) {}

  /** Register a function for jobs with `task: {handler: NAME}`. Its result becomes the run's. */
  handler<Params = unknown, Result = unknown>(name: string, work: Work<Params, Result>): this;
  handler<Params = unknown, Result = unknown>(name: string, options: HandlerOptions<Params, Result>, work: Work<Params, Result>): this;
  handler(name: string, ...rest: [Work<never, unknown>] | [HandlerOptions, Work<never, unknown>]): this {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (name === "" || name.length > 255 || this.handlers.has(name)) {
      throw new ConfigurationError(`handler ${JSON.stringify(name)} must be a name of 1 to 255 characters that no other has`);
    }
    this.handlers.set(name, new Handler(name, options, work as Work<unknown, unknown>));
    return this;
  }

  /** Have each handler called within a function, the first one outermost. */
  use(middleware: Middleware): this {
    this.middleware.push(middleware);
    return this;
  }

  /**
   * Open what handlers share. It is called before the first run. What it returns is called after the
   * last one, in the reverse order. If it throws, so does run.
   */
  setup(open: Setup): this {
    this.setups.push(open);
    return this;
  }

  /**
   * Do runs until SIGTERM or SIGINT; then let live runs end, for a while, and return. A second signal
   * gives them back at once. For the main
   * module of a program: it says what is wrong on standard error, with exit code 2.
   */
  async run(): Promise<void> {
    const stop = () => this.stop();
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    try {
      await this.serve();
    } catch (e) {
      if (!(e instanceof ConfigurationError || e instanceof ConflictError)) {
        throw e;
      }
      this.log.error(e.message);
      process.exitCode = 2;
    } finally {
      process.off("SIGTERM", stop);
      process.off("SIGINT", stop);
    }
    if (this.leftBehind > 0) {
      process.exit(); // handlers that ignore that they have to end would keep the process alive
    }
  }

  /** Do runs until stop. Throws ConfigurationError or ConflictError. An executor serves once. */
  async serve(): Promise<void> {
    const names = Buffer.byteLength(JSON.stringify([...this.handlers.keys()]));
    if (names > MAX_HANDLER_NAMES) {
      throw new ConfigurationError(`the names of all handlers have ${names} bytes; a heartbeat has ${MAX_HANDLER_NAMES} for them: use shorter names, or several groups`);
    }
    const instance = new Instance(complete(this.options), { handlers: this.handlers, middleware: this.middleware, log: this.log }, { stop: this.stopping.signal, hurry: this.hurrying.signal });
    const release = this.options.console === false ? () => {} : captureConsole();
    try {
      await within(this.setups, () => instance.serve());
    } finally {
      release();
      this.leftBehind = instance.leftBehind;
    }
  }

  /**
   * Let live runs end, for a while, give back the rest, and have serve return. A second call gives
   * them back at once.
   */
  stop(): void {
    if (this.stopping.signal.aborted) {
      this.hurrying.abort();
    }
    this.stopping.abort();
  }

  private get log(): Logger {
    return this.options.logger ?? standardError;
  }
}
