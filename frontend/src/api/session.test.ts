import { expect, it } from "vitest";
import { may } from "./session";

it("takes a right for the beginning of names as one in each such group, and not as one everywhere", () => {
  const can = {
    view: ["*"],
    operate: ["billing", "team-*"],
    edit: [],
    admin: [],
    logs: [],
    params: [],
    scripts: [],
    secrets: [],
  };
  const operates = (group?: string) => may(can, "operate", group);
  expect([operates("billing"), operates("team-a"), operates("team-"), operates()]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([operates("team"), operates("steam-a"), operates("billings"), operates("*")]).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect([may(can, "view", "any"), may(can, "view", "*"), may(can, "edit"), may(undefined, "view")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
