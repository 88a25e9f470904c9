import type { Document, ScalarTag, Tags } from "yaml";
import { Exact, form, numberOf, plain, revived } from "./exact";

/** Numbers as JSON writes them, which stay as they were written. */
const tag: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => value instanceof Exact,
  test: form,
  resolve: numberOf,
  stringify: ({ value }) => String(value),
};

/** Options of the YAML library with which numbers lose nothing. */
export const exactNumbers = { customTags: (tags: Tags): Tags => [tag, ...tags] };

/** The value of a document that was parsed with exactNumbers. */
export function exactValue(document: Document.Parsed): unknown {
  return plain(document.toJS({ reviver: (_, value) => revived(value) }));
}
