/** What goes wrong when an application runs jobs. */

/** What a server answered instead of a result. The subclasses are the kinds. */
export class ClientError extends Error {
  override name = "ClientError";
  /** The status of HTTP; 0 without an answer. */
  status = 0;
  /** The code of the API, such as "invalid"; "" if another program answered. */
  code = "";
  /** The first invalid field, such as "params.user"; "" if there is none. */
  field = "";
  /** The seconds after which to ask again; 0 if unknown. */
  after = 0;
  /** The id under which the server's log has details. */
  requestId = "";
  /** The time of the answer, in milliseconds. @internal */
  date: number | undefined;
}

/** The request is not valid. `field` names what is wrong. */
export class InvalidParams extends ClientError {
  override name = "InvalidParams";
}

/** The token is missing, unknown, or may not do this. */
export class Forbidden extends ClientError {
  override name = "Forbidden";
}

/** The job or the run does not exist, or the token may not see it. */
export class NotFound extends ClientError {
  override name = "NotFound";
}

/**
 * A run of the job has the key, and was given something else; or `reset` was wanted, and that run has
 * not ended, or another user started it.
 */
export class KeyInUse extends ClientError {
  override name = "KeyInUse";
  /** The id of the run that has the key. */
  run = "";
  /** The fields that differ, such as "params". */
  fields: string[] = [];
}

/** The run cannot be cancelled because it has ended. */
export class Ended extends ClientError {
  override name = "Ended";
}

/** A limit is reached. `after` is how long to wait, if the server knows. */
export class TooMany extends ClientError {
  override name = "TooMany";
}

/** No server answered, or a part of the system is away. It is unknown whether there is a run. */
export class Unavailable extends ClientError {
  override name = "Unavailable";
}

/** A run has not ended after the timeout of a wait. The run goes on. */
export class WaitTimeout extends Error {
  override name = "WaitTimeout";
}

const kinds: Record<number, typeof ClientError> = {
  400: InvalidParams,
  401: Forbidden,
  403: Forbidden,
  404: NotFound,
  429: TooMany,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

/** The error of an argument, before anything is sent. @internal */
export function invalid(field: string, message: string): InvalidParams {
  return Object.assign(new InvalidParams(`${field}: ${message}`), { code: "invalid", field });
}

/** An answer. The names of headers are in lower case. @internal */
export interface Answer {
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

/** An error as the API writes it. @internal */
export interface Problem {
  status?: number;
  run_id?: string;
  reason?: { params?: { fields?: string } };
  code?: string;
  title?: string;
  detail?: string;
  request_id?: string;
  errors?: { field: string }[];
}

/** The error in an answer. @internal */
export function problem(server: string, answer: Answer, cancel: boolean): ClientError {
  let Kind = kinds[answer.status] ?? ClientError;
  const body = bodyOf(answer);
  let error: ClientError;
  if (body?.code) {
    if (cancel && answer.status === 409) {
      Kind = Ended;
    }
    error = body.code === "key_in_use" ? keyInUse(body) : new Kind(body.detail ?? body.title ?? "");
    error.code = body.code;
    error.requestId = body.request_id ?? "";
    error.field = body.errors?.[0]?.field ?? "";
  } else {
    if (Kind !== Unavailable && Kind !== TooMany) {
      Kind = ClientError;
    }
    error = new Kind(`${server} answered ${answer.status}: is a Carillon server listening there?`);
  }
  error.status = answer.status;
  const after = answer.headers.get("retry-after") ?? "";
  if (/^\d{1,7}$/.test(after)) {
    error.after = Number(after);
  }
  const date = Date.parse(answer.headers.get("date") ?? "");
  error.date = Number.isNaN(date) ? undefined : date;
  return error;
}

function keyInUse(body: Problem): KeyInUse {
  const fields = body.reason?.params?.fields;
  return Object.assign(new KeyInUse(body.detail ?? ""), { run: body.run_id ?? "", fields: fields ? fields.split(", ") : [] });
}

/** The error of one entry of a batch. @internal */
export function problemIn(server: string, body: Problem = {}): ClientError {
  const headers = new Headers({ "Content-Type": "application/problem+json" });
  return problem(server, { status: body.status ?? 0, headers, text: JSON.stringify(body) }, false);
}

function bodyOf(answer: Answer): Problem | undefined {
  if (answer.headers.get("content-type")?.split(";")[0]?.trim() !== "application/problem+json") {
    return undefined;
  }
  try {
    const body: unknown = JSON.parse(answer.text);
    return typeof body === "object" && body !== null ? (body as Problem) : undefined;
  } catch {
    return undefined;
  }
}
