const key = "carillon.reloaded";
/** A page that cannot be loaded so soon after it was reloaded for that cannot be had by a reload. */
const enough = 60_000;

const mark = "page not loaded: ";

/**
 * Marks errors of pages whose files cannot be had, which browsers word in their own ways. The router would
 * reload at once for those that it knows, and the server may be away.
 */
export function markUnloaded(): void {
  window.addEventListener("vite:preloadError", (event) => {
    const { payload } = event;
    if (!payload.message.startsWith(mark)) payload.message = mark + payload.message;
  });
}

/** Whether an error says that the files of a page could not be had. */
export function isUnloaded(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(mark);
}

/** Whether a page that cannot be loaded may be reloaded by itself: not again and again. */
export function mayReload(now = Date.now()): boolean {
  const last = Number(sessionStorage.getItem(key) ?? Number.NaN);
  return !(Math.abs(now - last) < enough);
}

/** Reloads the page and remembers that it did. */
export function reloadOnce(now = Date.now()): void {
  sessionStorage.setItem(key, String(now));
  location.reload();
}

/** Resolves when the server serves the console, which it asks every two seconds while it is wanted. */
export async function untilServed(wanted: () => boolean): Promise<void> {
  while (wanted()) {
    const answer = await fetch(document.baseURI, { cache: "no-store" }).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
