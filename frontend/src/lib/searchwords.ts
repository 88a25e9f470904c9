/** What a search looks for, as the server reads it (logstore/terms.go): a word, a part of one, or a phrase. */
export interface Term {
  text: string;
  /** A word may begin before it. */
  before: boolean;
  /** A word may go on after it. */
  after: boolean;
}

// Letters are the same in both cases only in ASCII, for stores.
const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const word = /[a-z0-9\u0080-\u{10ffff}]+/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const punctuation = /(?=[\u0080-\u{10ffff}])[\p{P}\s]/u;

/** The terms of a query, each once: what stands in double quotes is one. */
export function termsOf(query: string): Term[] {
  const terms = new Map<string, Term>();
  const add = (text: string, before: boolean, after: boolean) =>
    terms.set(`${before} ${after} ${text}`, { text, before, after });
  lower(query)
    .split('"')
    .forEach((part, i) => {
      if (i % 2 === 1) {
        if (part !== "") add(part, true, true);
        return;
      }
      for (const { 0: text, index } of part.matchAll(word)) {
        if (unspaced.test(text)) {
          const parts = text.split(punctuation).filter((p) => p !== "");
          for (const p of parts.length > 0 ? parts : [text]) add(p, true, true);
        } else add(text, part[index - 1] === "*", part[index + text.length] === "*");
      }
    });
  return [...terms.values()];
}

const inWord = (letter: string | undefined) => letter !== undefined && /[a-z0-9\u0080-\uffff]/.test(letter);

/** Where a term stands in a text in lower case, from a place on; -1 if it does not. */
function indexOf(text: string, term: Term, from: number): number {
  for (let at = from; ; at++) {
    at = text.indexOf(term.text, at);
    if (at < 0) return -1;
    const begins = term.before || !inWord(text[at - 1]);
    if (begins && (term.after || !inWord(text[at + term.text.length]))) return at;
  }
}

export interface Piece {
  text: string;
  found: boolean;
}

/** A text cut where something that was found begins or ends. What overlaps or touches is one. */
export function pieces(text: string, terms: Term[]): Piece[] {
  const low = lower(text);
  const marked = new Set<number>();
  for (const term of terms) {
    for (let at = indexOf(low, term, 0); at >= 0; at = indexOf(low, term, at + term.text.length)) {
      for (let i = at; i < at + term.text.length; i++) marked.add(i);
    }
  }
  const out: Piece[] = [];
  for (let from = 0; from < text.length; ) {
    const found = marked.has(from);
    let to = from + 1;
    while (to < text.length && marked.has(to) === found) to++;
    out.push({ text: text.slice(from, to), found });
    from = to;
  }
  return out;
}
