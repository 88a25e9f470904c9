import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launch, type OpenOptions, open, type Tab } from "./browser.ts";
import { Program } from "./program.ts";

/** A program and a browser, which all tests of a file share. */
export interface Stage {
  program: Program;
  /** Opens a page of the program. */
  open(path: string, options?: OpenOptions): Promise<Tab>;
  /** Opens a page of the program in another browser. */
  openIn(other: Browser, path: string, options?: OpenOptions): Promise<Tab>;
  /** Opens a page of another server, in the same browser. */
  openAt(url: string, path: string, options?: OpenOptions): Promise<Tab>;
}

/** Sets a stage before the first test of a file, and clears it after the last. prepare furnishes the program. */
export function stage(prepare?: (program: Program) => Promise<unknown>): Stage {
  const program = new Program();
  let browser: Browser;
  beforeAll(async () => {
    await program.start();
    [browser] = await Promise.all([launch(), prepare?.(program)]);
  });
  afterAll(async () => {
    await browser?.close();
    await program.remove();
  });
  const openAt: Stage["openAt"] = (url, path, options) => open(browser, url, path, options);
  return {
    program,
    openAt,
    openIn: (other, path, options) => open(other, program.url, path, options),
    open: (path, options) => openAt(program.url, path, options),
  };
}
