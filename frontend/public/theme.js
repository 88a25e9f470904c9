// Runs before the first paint, so that a dark page never flashes white.
(() => {
  let choice = null;
  try {
    choice = JSON.parse(localStorage.getItem("carillon.prefs") ?? "{}").theme ?? null;
  } catch {
    // Storage may be closed to us, or hold something else: then the system decides.
  }
  const dark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
