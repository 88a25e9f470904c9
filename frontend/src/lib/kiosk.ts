/** How long a page is shown on a screen on the wall, in seconds: what ?kiosk=1 stands for. */
const usual = 30;
const shortest = 5;
const key = "carillon.kiosk";

/**
 * For how many seconds each page is shown to whoever passes by; undefined for a console
 * that people use. An address says so for the tab, until one with kiosk=0 does.
 */
export const kiosk = read();

function read(): number | undefined {
  try {
    const asked = new URLSearchParams(location.search).get("kiosk");
    if (asked !== null) sessionStorage.setItem(key, asked);
    const seconds = Number(sessionStorage.getItem(key));
    if (!Number.isFinite(seconds) || seconds <= 0) return undefined;
    return seconds === 1 ? usual : Math.max(shortest, seconds);
  } catch {
    return undefined; // storage is closed to us
  }
}
