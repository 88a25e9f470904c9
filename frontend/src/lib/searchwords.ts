/** The words and phrases that a search looks for, in lower case: what stands in double quotes is one. */
export function wordsOf(query: string): string[] {
  const words: string[] = [];
  for (const [, phrase, bare] of query.toLowerCase().matchAll(/"([^"]+)"|([\p{L}\p{N}]+)/gu)) {
    const word = phrase ?? bare;
    if (word && !words.includes(word)) words.push(word);
  }
  return words;
}

export interface Piece {
  text: string;
  found: boolean;
}

/** A text cut where a word begins or ends. Where words overlap, the one that begins first wins, then the longer. */
export function pieces(text: string, words: string[]): Piece[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [{ text, found: false }]; // some letters change their length
  const out: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    let best = -1;
    let length = 0;
    for (const word of words) {
      const i = lower.indexOf(word, at);
      if (i >= 0 && (best < 0 || i < best || (i === best && word.length > length))) {
        best = i;
        length = word.length;
      }
    }
    if (best < 0) break;
    if (best > at) out.push({ text: text.slice(at, best), found: false });
    out.push({ text: text.slice(best, best + length), found: true });
    at = best + length;
  }
  if (at < text.length) out.push({ text: text.slice(at), found: false });
  return out;
}
