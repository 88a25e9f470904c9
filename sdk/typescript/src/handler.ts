/** Handlers: what they take, and how they are called. */

import { ConfigurationError } from "./errors";
import { checkFinite } from "./json";
import type { Run } from "./run";
import { type JsonSchema, jsonSchema, type Schema, validate } from "./schema";
import { isWhole } from "./trigger";

/** What is to be known of a handler, beside its function. */
export interface HandlerOptions<Params = unknown, Result = unknown> {
  /** What it does, for people who write jobs. */
  description?: string;
  /** Checks the parameters of runs, and of jobs when they are saved: a schema of zod, for example. */
  params?: Schema<unknown, Params>;
  /** Checks what the handler returns. */
  result?: Schema<Result, unknown>;
  /** The parameters as JSON Schema (2020-12), if `params` cannot write itself as one. */
  paramsSchema?: JsonSchema;
  /** What it returns as JSON Schema. */
  resultSchema?: JsonSchema;
  /** How many runs of this handler there may be at once. Defaults to the executor's slots. */
  slots?: number;
}

/** A handler's function. What it returns becomes the run's result. */
export type Work<Params, Result> = (run: Run<Params>) => Result | Promise<Result>;

/** Is called around each handler; it returns what next returns, or something else. */
export type Middleware = (run: Run, next: () => Promise<unknown>) => unknown;

export class Handler {
  readonly slots: number;
  readonly paramsSchema: JsonSchema | undefined;
  readonly resultSchema: JsonSchema | undefined;

  constructor(
    readonly name: string,
    private readonly options: HandlerOptions,
    private readonly work: Work<unknown, unknown>,
  ) {
    this.slots = options.slots ?? Number.POSITIVE_INFINITY;
    if (options.slots !== undefined && !isWhole(options.slots, 1)) {
      throw new ConfigurationError(`slots of handler ${JSON.stringify(name)} must be a whole number from 1, and is ${options.slots}`);
    }
    this.paramsSchema = options.paramsSchema ?? jsonSchema(options.params, "input");
    this.resultSchema = options.resultSchema ?? jsonSchema(options.result, "output");
  }

  get description(): string {
    return this.options.description ?? "";
  }

  /** The parameters of a run, as the schema has them. Without any, {} is checked. */
  async params(raw: unknown): Promise<unknown> {
    const { params } = this.options;
    checkFinite(raw, "params");
    return params === undefined ? raw : await validate(params, raw ?? {}, `params of handler ${this.name}`);
  }

  /** Call the function, within what is around it. */
  async call(run: Run, around: readonly Middleware[]): Promise<unknown> {
    const next = around.reduceRight<() => Promise<unknown>>(
      (inner, layer) => async () => await layer(run, inner),
      async () => await this.result(await this.work(run)),
    );
    return await next();
  }

  private async result(value: unknown): Promise<unknown> {
    const { result } = this.options;
    return result === undefined ? value : await validate(result, value, `result of handler ${this.name}`);
  }
}
