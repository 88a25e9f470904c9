import { afterEach, vi } from "vitest";
import { loadEditor, loadPages } from "@/i18n";
import { noteAnswer } from "@/lib/connection";

// Files of tests share a window (vite.config.ts): none leaves another fetch, clock or connection behind.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  noteAnswer(true);
});

// So that what is drawn in a test is there at once.
await Promise.all([loadPages("en"), loadEditor("en")]);
