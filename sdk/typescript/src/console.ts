/** What handlers say by console.log and its like, as lines of their runs' logs too. */

import { format } from "node:util";

import type { Level } from "./log";
import { currentLog } from "./run";
import type { Output } from "./runlog";

const METHODS: ReadonlyArray<[method: "debug" | "log" | "info" | "warn" | "error", level: Level, output: Output]> = [
  ["debug", "debug", "stdout"],
  ["log", "info", "stdout"],
  ["info", "info", "stdout"],
  ["warn", "warn", "stderr"],
  ["error", "error", "stderr"],
];

let users = 0; // the console is one for the process, and is changed once
let restore = (): void => {};

/** Copy what runs say on the console into their logs, until the returned function is called. */
export function captureConsole(): () => void {
  if (users++ === 0) {
    restore = install();
  }
  return () => {
    if (--users === 0) {
      restore();
    }
  };
}

function install(): () => void {
  const undo = METHODS.map(([method, level, output]) => {
    const original = console[method];
    const capturing = (...said: unknown[]) => {
      currentLog()?.add(output, level, format(...said));
      original.apply(console, said);
    };
    console[method] = capturing;
    return () => {
      if (console[method] === capturing) {
        console[method] = original;
      }
    };
  });
  return () => {
    for (const undone of undo) {
      undone();
    }
  };
}
