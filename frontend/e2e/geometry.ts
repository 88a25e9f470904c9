import type { Page } from "playwright-core";
import { patience } from "./patience.ts";

/**
 * What a page's geometry has wrong, a line each: scrolling sideways, texts without a width, texts that
 * lie over one another, and texts that are cut with no ellipsis to say so.
 */
export async function geometry(page: Page): Promise<string[]> {
  await page.evaluate(settled);
  let faults = await page.evaluate(inspect);
  // A busy machine may take more than two frames to draw what a chart has measured.
  for (const begun = Date.now(); faults.length > 0 && Date.now() - begun < patience; ) {
    await page.waitForTimeout(200);
    faults = await page.evaluate(inspect);
  }
  return faults;
}

/** Resolves once charts have taken the width that they measured. */
function settled(): Promise<void> {
  return document.fonts.ready.then(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

// Runs in the browser, so it must not use anything outside of itself.
function inspect(): string[] {
  interface Seen {
    text: string;
    box: DOMRect;
    owner: Element;
    layer: Element | null;
  }
  const faults: string[] = [];
  const name = (e: Element) =>
    `<${e.tagName.toLowerCase()}${e.getAttribute("class") ? ` class="${e.getAttribute("class")}"` : ""}>`;
  const where = (e: Element) => `${e.parentElement ? name(e.parentElement) : ""}${name(e)}`;

  const wide = [
    document.documentElement,
    ...document.querySelectorAll(".main, .under, .page, .dialog > .body"),
  ];
  for (const e of wide)
    if (e.scrollWidth > e.clientWidth + 1)
      faults.push(`${name(e)} is ${e.scrollWidth - e.clientWidth} px wider than its place`);

  const clips = (overflow: string) => overflow === "hidden" || overflow === "clip";
  const scrolls = (overflow: string) => overflow === "auto" || overflow === "scroll";
  const seen: Seen[] = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  texts: for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const owner = node.parentElement;
    const text = node.textContent?.trim() ?? "";
    if (!owner || text === "" || owner.closest("script, style, noscript, option, textarea, .cm-host"))
      continue;
    if (!owner.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const drawn = owner instanceof SVGElement ? owner.getBoundingClientRect() : range.getBoundingClientRect();
    if (drawn.width === 0 || owner.getBoundingClientRect().width === 0) {
      faults.push(`"${text}" has no width in ${where(owner)}`);
      continue;
    }
    // What is left of the text after everything around it has cut it.
    let [left, top, right, bottom] = [drawn.left, drawn.top, drawn.right, drawn.bottom];
    let layer: Element | null = null;
    let [across, down] = [true, true]; // whether what is cut there is out of reach
    for (let e: Element | null = owner; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.clipPath !== "none") continue texts; // only screen readers have it
      if (style.display === "inline") continue;
      const box = e.getBoundingClientRect();
      if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") across = down = false;
      const over = Math.max(
        across && clips(style.overflowX) ? Math.max(right - box.right, box.left - left) : 0,
        down && clips(style.overflowY) ? Math.max(bottom - box.bottom, box.top - top) : 0,
      );
      if (over > 1.5 && e instanceof HTMLElement) {
        faults.push(`"${text}" in ${where(owner)} is cut by ${name(e)}, by ${Math.round(over)} px`);
        break;
      }
      if (style.overflowX !== "visible")
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (style.overflowY !== "visible")
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      if (scrolls(style.overflowX)) across = false;
      if (scrolls(style.overflowY)) down = false;
      if (!layer && style.position !== "static" && style.position !== "relative") layer = e;
      if (style.position === "fixed") break;
    }
    if (right - left > 1 && bottom - top > 1)
      seen.push({ text, box: new DOMRect(left, top, right - left, bottom - top), owner, layer });
  }

  seen.sort((a, b) => a.box.top - b.box.top);
  for (const [i, a] of seen.entries())
    for (const b of seen.slice(i + 1)) {
      if (b.box.top > a.box.bottom - 3) break;
      // Labels of a chart must not touch, either.
      const gap = a.owner instanceof SVGElement && b.owner instanceof SVGElement ? 4 : 0;
      const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) + gap;
      const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (x < 2 || y < 3 || a.layer !== b.layer) continue;
      // Texts of one paragraph follow one another, in boxes that are as wide as their lines.
      const block = (e: Element): Element => {
        let at = e;
        while (getComputedStyle(at).display === "inline" && at.parentElement) at = at.parentElement;
        return at;
      };
      if (block(a.owner) === block(b.owner) && !(a.owner instanceof SVGElement)) continue;
      faults.push(`"${a.text}" and "${b.text}" overlap in ${where(a.owner)}`);
    }
  return [...new Set(faults)];
}
