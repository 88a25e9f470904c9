import { act } from "react";
import { expect, it, vi } from "vitest";
import { find, fire, render, type } from "@/test/render";
import { GroupChoice } from "./GroupChoice";

it("a role can be given in a group that has no job yet", () => {
  const changed = vi.fn();
  const choice = (value: string) => <GroupChoice value={value} groups={["billing"]} onChange={changed} />;
  const { host, show, remove } = render(choice(""));
  const list = find<HTMLSelectElement>(host, "select");
  expect([...list.options].map((o) => o.text)).toEqual([
    "Choose a group",
    "all groups",
    "billing",
    "Another group, or team-*…",
  ]);
  list.value = "?";
  fire(list, "change");
  expect(changed).toHaveBeenLastCalledWith("");
  type(find<HTMLInputElement>(host, "input"), "new-team ");
  expect(changed).toHaveBeenLastCalledWith("new-team");
  show(choice("new-team"));
  expect(find<HTMLInputElement>(host, "input").value).toBe("new-team");
  show(choice(""));
  act(() => find<HTMLInputElement>(host, "input").blur());
  find(host, "select"); // the list is back when nothing was typed
  remove();
});
