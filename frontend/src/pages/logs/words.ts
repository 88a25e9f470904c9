import type { Level } from "@/api/schema.gen";
import { levels } from "@/router";

/** What a search may be narrowed to by words of its field. */
export interface LogWords {
  level?: Level[];
  job?: string[];
  group?: string;
  run?: string;
}

// What stands in double quotes is looked for as it is, whatever it looks like.
const written = /"[^"]*"?|(?<=^|\s)(level|job|group|run):(\S+)(?=\s|$)/gi;

/**
 * Takes `level:error`, `job:group/name`, `group:name` and `run:id` out of a text. What stands at its
 * end may not be finished yet: it stays, unless the text is; so does what names nothing.
 */
export function readWords(text: string, isFinished: boolean): { rest: string; words: LogWords } {
  const words: LogWords = {};
  const rest = text.replace(written, (whole, name?: string, value = "", at = 0) => {
    if (!name || (at + whole.length === text.length && !isFinished)) return whole;
    const field = name.toLowerCase();
    if (field === "level") {
      const level = levels.find((l) => l === value.toLowerCase().replace(/^warning$/, "warn"));
      if (!level) return whole;
      words.level = [...(words.level ?? []), level];
    } else if (field === "job") {
      if (!/^[^/]+\/[^/]+$/.test(value)) return whole;
      words.job = [...(words.job ?? []), value];
    } else if (field === "group") words.group = value;
    else words.run = value;
    return "";
  });
  return Object.keys(words).length === 0 ? { rest: text, words } : { rest: tidy(rest), words };
}

const tidy = (text: string) => text.replace(/\s+/g, " ").trimStart();

/** What is chosen, with more of it. */
export function withWords(chosen: LogWords, more: LogWords): LogWords {
  const both = <T>(a: T[] | undefined, b: T[] | undefined) => (b ? [...new Set([...(a ?? []), ...b])] : a);
  return { ...chosen, ...more, level: both(chosen.level, more.level), job: both(chosen.job, more.job) };
}
