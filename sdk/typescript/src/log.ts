/** Loggers: that of a run, and that of the executor itself. */

export type Level = "debug" | "info" | "warn" | "error";

/** Values beside a message. They become key=value. */
export type Fields = Record<string, unknown>;

export class Logger {
  constructor(
    private readonly write: (level: Level, text: string) => void,
    private readonly fixed: Fields = {},
  ) {}

  debug(message: string, fields?: Fields): void {
    this.log("debug", message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.log("info", message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.log("warn", message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.log("error", message, fields);
  }

  /** A logger whose lines all have these fields. */
  with(fields: Fields): Logger {
    return new Logger(this.write, { ...this.fixed, ...fields });
  }

  private log(level: Level, message: string, fields: Fields = {}): void {
    this.write(level, [String(message), ...Object.entries({ ...this.fixed, ...fields }).map(pair)].join(" "));
  }
}

function pair([key, value]: [string, unknown]): string {
  const text = asText(value);
  return `${key}=${/[\s"=]/.test(text) || text === "" ? JSON.stringify(text) : text}`;
}

function asText(value: unknown): string {
  if (value instanceof Error) {
    return value.message;
  }
  if (typeof value !== "object" || value === null) {
    return String(value);
  }
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "[not JSON]";
  }
}

/** The executor's own logger, unless its user gives another: lines on standard error. */
export const standardError = new Logger((level, text) => {
  process.stderr.write(`${new Date().toISOString()} ${level.toUpperCase()} carillon: ${text}\n`);
});

/** Whether something that happens for the nth time is to be said: the first, and each doubling. */
export function isDoubling(n: number): boolean {
  return (n & (n - 1)) === 0;
}
