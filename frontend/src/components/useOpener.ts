import { useRef } from "react";

/** What had the focus: of a menu, which is gone with its choice, the button that opened it. */
function focused(): HTMLElement | null {
  const now = document.activeElement;
  const menu = now?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  const opener = menu ? document.getElementById(menu) : now;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/**
 * Gives the focus back to what opened a dialog. Radix does so only for triggers of its own, which our
 * dialogs have none of. Where the opener is gone meanwhile, the heading of the page has it.
 */
export function useOpener() {
  const opener = useRef<HTMLElement | null>(null);
  return {
    /** To be called before the dialog takes the focus. */
    remember() {
      opener.current = focused();
    },
    /** To be called once the dialog is gone. */
    restore(e: Event) {
      e.preventDefault();
      // What came after the dialog, such as another page, may have taken it.
      const taken = document.activeElement;
      if (taken && taken !== document.body) return;
      const was = opener.current;
      const back = was?.isConnected ? was : document.querySelector<HTMLElement>("main h1");
      back?.focus({ preventScroll: true });
    },
  };
}
