// Runs before the first paint, so that a dark page never flashes white, and nothing moves after it.
(() => {
  let prefs = {};
  try {
    prefs = JSON.parse(localStorage.getItem("carillon.prefs") ?? "{}") ?? {};
  } catch {
    // Storage may be closed to us, or hold something else: then the system decides.
  }
  const { theme, narrow, compact } = prefs;
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const tablet = matchMedia("(min-width: 761px) and (max-width: 1240px)").matches;
  const look = document.documentElement.dataset;
  look.theme = dark ? "dark" : "light";
  look.side = tablet || narrow ? "narrow" : "wide";
  look.rows = compact ? "compact" : "usual";
})();
