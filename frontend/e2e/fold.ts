import type { Page } from "playwright-core";

/** Opens fields of the job editor that are folded. */
export const unfold = (page: Page, title: string) => page.locator("summary", { hasText: title }).click();
