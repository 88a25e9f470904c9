import { Exact } from "./exact";

/** One field of a form that is made from a JSON schema. */
export interface SchemaField {
  /** The name of the property. */
  name: string;
  kind: "text" | "number" | "integer" | "yesno" | "choice" | "list" | "group" | "json";
  title: string | undefined;
  hint: string | undefined;
  required: boolean;
  /** Of a choice: the values, as JSON. */
  choices: unknown[];
  /** Of a group: its own fields. */
  fields: SchemaField[];
  /** Of a list: what its elements are. */
  of: "text" | "number" | "integer";
  min: number | undefined;
  max: number | undefined;
  /** What holds when the field is left empty, if the schema says so. */
  preset: unknown;
}

/** How deep groups may lie in one another; what is deeper is edited as JSON. */
const deepest = 3;

/**
 * Reads a JSON schema as the fields of a form. A schema that is not of an object has none:
 * such parameters are edited as JSON. So is a property that a form cannot show.
 */
export function fieldsOf(schema: unknown, depth = 0): SchemaField[] | undefined {
  if (!isRecord(schema) || !isRecord(schema.properties)) return undefined;
  if (typesOf(schema).some((t) => t !== "object")) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, s]) =>
    fieldOf(name, s, required.includes(name), depth),
  );
}

function fieldOf(name: string, schema: unknown, required: boolean, depth: number): SchemaField {
  const s = isRecord(schema) ? schema : {};
  const text = (v: unknown) => (typeof v === "string" && v !== "" ? v : undefined);
  const number = (v: unknown) => (typeof v === "number" || v instanceof Exact ? Number(v) : undefined);
  const field: SchemaField = {
    name,
    kind: "json",
    title: text(s.title),
    hint: text(s.description),
    required,
    choices: [],
    fields: [],
    of: "text",
    min: number(s.minimum),
    max: number(s.maximum),
    preset: s.default,
  };
  if (Array.isArray(s.enum) && s.enum.length > 0) return { ...field, kind: "choice", choices: s.enum };
  const types = typesOf(s);
  if (types.length !== 1) return field; // several types, or any: only JSON can say all of them
  switch (types[0]) {
    case "string":
      return { ...field, kind: "text" };
    case "integer":
      return { ...field, kind: "integer" };
    case "number":
      return { ...field, kind: "number" };
    case "boolean":
      return { ...field, kind: "yesno" };
    case "array": {
      const [of] = isRecord(s.items) ? typesOf(s.items) : [];
      if (of === "string") return { ...field, kind: "list", of: "text" };
      return of === "number" || of === "integer" ? { ...field, kind: "list", of } : field;
    }
    case "object": {
      const fields = depth + 1 < deepest ? fieldsOf(s, depth + 1) : undefined;
      return fields && fields.length > 0 ? { ...field, kind: "group", fields } : field;
    }
    default:
      return field;
  }
}

/** The types that a schema allows, but for null: a field that is left empty is left out. */
function typesOf(s: Record<string, unknown>): string[] {
  const types = Array.isArray(s.type) ? s.type : [s.type];
  return types.filter((t): t is string => typeof t === "string" && t !== "null");
}

/** The value with one property changed; undefined takes it out, and an object that is then empty is undefined. */
export function withProperty(
  value: unknown,
  name: string,
  next: unknown,
): Record<string, unknown> | undefined {
  const { [name]: _old, ...rest } = isRecord(value) ? value : {};
  if (next !== undefined) {
    // In the place where it was, so that the document changes in one line.
    const kept = isRecord(value) && name in value ? { ...value, [name]: next } : { ...rest, [name]: next };
    return kept;
  }
  return Object.keys(rest).length === 0 ? undefined : rest;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}

/** The required fields that a value lacks, as paths. */
export function missingOf(fields: SchemaField[], value: unknown, path = ""): string[] {
  const of = isRecord(value) ? value : {};
  return fields.flatMap((f) => {
    const at = path === "" ? f.name : `${path}.${f.name}`;
    const v = of[f.name];
    if (f.kind === "group" && (f.required || v !== undefined)) return missingOf(f.fields, v, at);
    return f.required && v === undefined ? [at] : [];
  });
}
