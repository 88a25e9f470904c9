import { Zap } from "lucide-react";
import { afterEach, expect, it } from "vitest";
import { find, type Rendered, render } from "@/test/render";
import { Button, IconButton } from "./Button";

let page: Rendered;
afterEach(() => page.remove());

it("is off and says why, for those who may not do it, and keeps its name", () => {
  page = render(
    <>
      <Button may={false} title="Runs it now">
        Run now
      </Button>
      <IconButton may={false} icon={Zap} label="Run now" keys="R" />
    </>,
  );
  const button = find<HTMLButtonElement>(page.host, ".btn");
  expect([button.disabled, button.title]).toEqual([true, "You do not have permission to do this here"]);
  const icon = find<HTMLButtonElement>(page.host, ".ic");
  expect([icon.disabled, icon.getAttribute("aria-label"), icon.dataset.tip]).toEqual([
    true,
    "Run now",
    "Run now: You do not have permission to do this here",
  ]);
});

it("is on for those who may", () => {
  page = render(
    <>
      <Button may title="Runs it now">
        Run now
      </Button>
      <IconButton may icon={Zap} label="Run now" keys="R" />
    </>,
  );
  const button = find<HTMLButtonElement>(page.host, ".btn");
  expect([button.disabled, button.title]).toEqual([false, "Runs it now"]);
  const icon = find<HTMLButtonElement>(page.host, ".ic");
  expect([icon.disabled, icon.dataset.tip, icon.dataset.tipKeys]).toEqual([false, "Run now", "R"]);
});
