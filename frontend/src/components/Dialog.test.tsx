import { act } from "react";
import { afterEach, expect, it } from "vitest";
import { find, type Rendered, render } from "@/test/render";
import { Dialog } from "./Dialog";

let page: Rendered;
afterEach(() => page.remove());

const settled = () => act(() => new Promise<void>((done) => setTimeout(done)));

function view(open: boolean, opener: boolean) {
  return (
    <main>
      <h1 tabIndex={-1}>Jobs</h1>
      {opener && <button type="button">Delete</button>}
      {open && (
        <Dialog title="Delete the job?" open onClose={() => {}}>
          <input aria-label="Name" />
        </Dialog>
      )}
    </main>
  );
}

it("gives the focus back to what opened it", async () => {
  page = render(view(false, true));
  find<HTMLButtonElement>(page.host, "button").focus();
  page.show(view(true, true));
  await settled();
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Name");
  page.show(view(false, true));
  await settled();
  expect(document.activeElement?.textContent).toBe("Delete");
});

it("gives the focus to the page's heading when what opened it is gone", async () => {
  page = render(view(false, true));
  find<HTMLButtonElement>(page.host, "button").focus();
  page.show(view(true, true));
  await settled();
  page.show(view(false, false));
  await settled();
  expect(document.activeElement?.tagName).toBe("H1");
});
