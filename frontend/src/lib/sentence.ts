import { usePageT } from "@/i18n";
import { useFormat } from "./format";
import { useNow } from "./now";

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

/** Says what the server tells by a code and its parameters; text is for codes that this console does not know. */
export function useSentence(): (code?: string, params?: Params, text?: string) => string {
  const { sentences, ended } = usePageT().alerts;
  const f = useFormat();
  const now = useNow();
  return (code, params, text) => {
    const template = code === undefined ? undefined : sentences[code];
    if (template === undefined) return text ?? "";
    return fill(template, params ?? {}, { ended, instant: (at) => f.short(at, now) });
  };
}
