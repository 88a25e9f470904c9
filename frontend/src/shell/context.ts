import { createContext, use } from "react";

export interface ShellControls {
  openPalette(): void;
  openHelp(): void;
  openNav(): void;
  /** Asks whether everything is to be paused, or to go on. */
  openEverything(): void;
}

export const ShellContext = createContext<ShellControls>({
  openPalette() {},
  openHelp() {},
  openNav() {},
  openEverything() {},
});

export function useShell(): ShellControls {
  return use(ShellContext);
}
