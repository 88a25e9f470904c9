/** A document of JSON in several lines, every number as it was written; undefined if it is none. */
export function indented(text: string): string[] | undefined {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed) || !/[\]}]$/.test(trimmed)) return undefined;
  try {
    JSON.parse(trimmed);
  } catch {
    return undefined;
  }
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  const end = () => {
    lines.push(line);
    line = "  ".repeat(depth);
  };
  // Strings as they are; what stands between tokens goes.
  for (const [token] of trimmed.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g)) {
    if (token === "{" || token === "[") {
      line += token;
      depth++;
      end();
    } else if (token === "}" || token === "]") {
      depth--;
      if (line.trim() === "" && /[[{]$/.test(lines.at(-1) ?? "")) line = (lines.pop() ?? "") + token;
      else {
        end();
        line += token;
      }
    } else if (token === ",") {
      line += token;
      end();
    } else line += token === ":" ? ": " : token;
  }
  lines.push(line);
  return lines;
}
