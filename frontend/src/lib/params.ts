import { readJson } from "./exact";

/** The parameters that a text says, as JSON; undefined when it is none. No text at all is no parameters, which is a value too. */
export function paramsIn(text: string): { json: unknown } | undefined {
  if (text.trim() === "") return { json: undefined };
  try {
    return { json: readJson(text) };
  } catch {
    return undefined;
  }
}
