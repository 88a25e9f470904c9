import { createContext, use } from "react";

export interface ShellControls {
  openPalette(): void;
  openHelp(): void;
  openNav(): void;
}

export const ShellContext = createContext<ShellControls>({ openPalette() {}, openHelp() {}, openNav() {} });

export function useShell(): ShellControls {
  return use(ShellContext);
}
