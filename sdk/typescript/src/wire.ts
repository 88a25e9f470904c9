/** The words of docs/reference/protocol.md: headers, limits, reply subjects, answers. */

export const PROTOCOL = 3;
const MAX_MESSAGE = 16 << 10;
export const MAX_RESULT = 64 << 10;
export const MAX_LOG_TEXT = 32 << 10;
export const MAX_ANNOUNCEMENT = 32 << 10;
export const MAX_HANDLER_NAMES = 16 << 10;
export const MAX_LABELS = 8 << 10;
export const MAX_VERSION = 255;
export const ACK_WAIT = 15_000;
export const HEARTBEAT_EVERY = 5000;

export const MESSAGE = "Carillon-Message";
export const TRIGGER = "trigger.v1";
export const TOKEN = "Carillon-Token";
export const ACK = "Carillon-Ack";
export const INSTANCE = "Carillon-Instance";
export const ROUTE_REASON = "Carillon-Route-Reason";
export const RESUME = "Carillon-Resume";
export const ALONE = "Carillon-Alone";
export const PACK = "Carillon-Pack";
export const TRACE = "traceparent";
export const MSG_ID = "Nats-Msg-Id";
export const EXPECTED = "Nats-Expected-Last-Subject-Sequence";

const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** Whether a text may name a group or an instance. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** A message that is no trigger of the group. */
export class Garbage extends Error {
  override name = "Garbage";
}

/** How often a trigger has been delivered, and its sequence on TRIG, from its reply subject. */
export function delivery(reply: string): { count: number; sequence: number } {
  const tokens = reply.split(".");
  const at = tokens.length >= 11 ? 6 : 4;
  const [count = "", sequence = ""] = tokens.slice(at, at + 2);
  if ((tokens.length !== 9 && tokens.length < 11) || !/^\d+$/.test(count) || !/^\d+$/.test(sequence)) {
    throw new Garbage(`the reply subject ${JSON.stringify(reply)} is not one of JetStream's`);
  }
  return { count: Number(count), sequence: Number(sequence) };
}

/** The answer that gives a trigger back: after 1 s at first, doubling up to 15 s. */
export function giveBack(count: number): string {
  return nakAfter(Math.min(2 ** (Math.max(count, 1) - 1), 15));
}

/** The answer that has a trigger delivered again after so many seconds. */
export function nakAfter(seconds: number): string {
  return `-NAK {"delay": ${seconds * 1_000_000_000}}`;
}

/** As much of a text as that many bytes of UTF-8 hold, without half a character. */
export function cut(text: string, most = MAX_MESSAGE): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= most) {
    return whole;
  }
  const bytes = Buffer.from(whole);
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end--;
  }
  return bytes.toString("utf8", 0, end);
}
