/** A piece of a line with one look. */
export interface Span {
  text: string;
  /** Class names, empty for plain text. */
  look: string;
}

const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
// Escape sequences: CSI … final, OSC … BEL or ST, and two-character ones.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const escapes = /\u001b(?:\[([0-9;?]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Cuts a line into spans by its ANSI colours. Other sequences go; control characters become visible. */
export function parseAnsi(line: string): Span[] {
  if (!line.includes("\u001b")) return [{ text: visible(line), look: "" }];
  const spans: Span[] = [];
  let look = new Set<string>();
  let at = 0;
  const push = (text: string) => {
    if (text !== "") spans.push({ text: visible(text), look: [...look].join(" ") });
  };
  for (const match of line.matchAll(escapes)) {
    push(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") look = restyle(look, match[1] ?? "");
  }
  push(line.slice(at));
  return spans;
}

/** Returns the text of a line without its colours, as a search sees it. */
export function plainText(line: string): string {
  return line.includes("\u001b") ? line.replace(escapes, "") : line;
}

function visible(text: string): string {
  return text.replace(controls, (c) =>
    String.fromCodePoint(0x2400 + (c.charCodeAt(0) === 0x7f ? 0x21 : c.charCodeAt(0))),
  );
}

function restyle(was: Set<string>, parameters: string): Set<string> {
  const look = new Set(was);
  const codes = parameters === "" ? [0] : parameters.split(";").map(Number);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) look.clear();
    else if (code === 1) look.add("a-bold");
    else if (code === 2) look.add("a-dim");
    else if (code === 4) look.add("a-under");
    else if (code === 22) for (const l of ["a-bold", "a-dim"]) look.delete(l);
    else if (code === 24) look.delete("a-under");
    else if (code === 38 || code === 48) {
      i += codes[i + 1] === 5 ? 2 : 4; // 256 colours and RGB are shown as plain text
    } else if ((code >= 30 && code <= 37) || code === 39 || (code >= 90 && code <= 97)) {
      for (const l of look) if (l.startsWith("a-fg-")) look.delete(l);
      if (code !== 39) look.add(`a-fg-${colours[code % 10] ?? "white"}`);
    }
  }
  return look;
}
