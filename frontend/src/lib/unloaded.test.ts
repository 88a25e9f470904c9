import { expect, it, vi } from "vitest";
import { isUnloaded, markUnloaded, mayReload, reloadOnce } from "./unloaded";

it("a page whose files cannot be had is told from one that threw, in each browser", () => {
  markUnloaded();
  for (const text of [
    "Unable to preload CSS for http://127.0.0.1/assets/RunsPage-DDc9aT1H.css",
    "Failed to fetch dynamically imported module: http://127.0.0.1/assets/RunsPage-x.js",
    "Importing a module script failed.",
  ]) {
    const payload = new TypeError(text);
    window.dispatchEvent(Object.assign(new Event("vite:preloadError"), { payload }));
    expect(isUnloaded(payload), text).toBe(true);
    expect(payload.message).toBe(`page not loaded: ${text}`);
  }
  expect(isUnloaded(new TypeError("x is undefined"))).toBe(false);
});

it("a page reloads itself once, and not again for a minute", () => {
  const reload = vi.spyOn(location, "reload").mockImplementation(() => {});
  sessionStorage.clear();
  expect(mayReload(1000)).toBe(true);
  reloadOnce(1000);
  expect(reload).toHaveBeenCalledOnce();
  expect(mayReload(60_000)).toBe(false);
  expect(mayReload(62_000)).toBe(true);
  sessionStorage.clear();
});
