/** Whether a text has the letters of another in their order, whatever lies between them. */
export function isLike(text: string, letters: string): boolean {
  let at = 0;
  const low = text.toLowerCase();
  for (const letter of letters.toLowerCase().replace(/\s+/g, "")) {
    at = low.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
