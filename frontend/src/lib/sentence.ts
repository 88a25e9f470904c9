import type { Reason } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { useFormat } from "./format";
import { useNow } from "./now";
import { say } from "./reason";

export type Params = Record<string, string>;

const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** How values are written that are not shown as they are. */
export interface Values {
  ended: Record<string, string>;
  instant(at: string): string;
}

/**
 * Fills a template in: {name} becomes a parameter, and {name|one|many} the first text if the parameter is 1,
 * else the second. What is in brackets is left out unless all its parameters are there. The server does the
 * same, see job/alerting/sentence.go.
 */
export function fill(template: string, params: Params, values: Values): string {
  return parts(template, params, values).text;
}

function parts(template: string, params: Params, values: Values): { text: string; complete: boolean } {
  let complete = true;
  const text = template.replace(/\[([^\]]*)\]|\{([^}]*)\}/g, (_, part?: string, place?: string) => {
    if (part !== undefined) {
      const inner = parts(part, params, values);
      return inner.complete ? inner.text : "";
    }
    const [name = "", one, many] = (place ?? "").split("|");
    const value = params[name];
    if (value === undefined) complete = false;
    if (one !== undefined) return value === "1" ? one : (many ?? "");
    if (value === undefined) return "";
    if (name === "status") return values.ended[value] ?? value;
    return instant.test(value) ? values.instant(value) : value;
  });
  return { text, complete };
}

/** What the server tells: a sentence by its code, and its parameter `reason` by the code of that. */
export interface Told {
  code?: string | undefined;
  params?: Params | undefined;
  reason?: Reason | undefined;
  /** For a code that this console does not know, and for text that has none. */
  text?: string | undefined;
}

/** Says what the server tells, in the language and zone of the reader. */
export function useSentence(): (told: Told) => string {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  return ({ code, params, reason, text }) => {
    const template = code === undefined ? undefined : t.alerts.sentences[code];
    if (template === undefined) return (code === undefined && say(reason, t, f)) || (text ?? "");
    const all = reason ? { ...params, reason: say(reason, t, f) } : (params ?? {});
    return fill(template, all, { ended: t.alerts.ended, instant: (at) => f.short(at, now) });
  };
}

/** What an incident, or a message about it, is about. */
export function summaryOf(i: {
  summary: string;
  summary_code?: string;
  summary_params?: Params;
  summary_reason?: Reason;
}): Told {
  return { code: i.summary_code, params: i.summary_params, reason: i.summary_reason, text: i.summary };
}

/** What was bad of a job in an incident. */
export function messageOf(j: {
  message?: string;
  message_code?: string;
  message_params?: Params;
  message_reason?: Reason;
}): Told {
  return { code: j.message_code, params: j.message_params, reason: j.message_reason, text: j.message };
}

/** Why a message waits, was dropped or failed. */
export function reasonOf(d: { reason?: string; reason_code?: string; reason_params?: Params }): Told {
  return { code: d.reason_code, params: d.reason_params, text: d.reason };
}
