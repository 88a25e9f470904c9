import type { Messages } from "../en";
import { executors } from "./executors";
import { jobs } from "./jobs";
import { overview } from "./overview";
import { pause } from "./pause";
import { rangeNames } from "./range";
import { reasons } from "./reasons.gen";
import { runs } from "./runs";
import { act, banner, done, error, health, nav, signIn, top } from "./shell";
import { cause, dayNames, monthNames, shortDays, state, status, time } from "./terms";

export const zh: Messages = {
  lang: "zh",
  product: "Carillon",
  skip: "跳到内容",
  status,
  cause,
  dayNames,
  shortDays,
  monthNames,
  state,
  time,
  nav,
  health,
  top,
  banner,
  act,
  done,
  error,
  signIn,
  overview,
  jobs,
  runs,
  rangeNames,
  reasons,
  reasonJoint: "；",
  executors,
  pause,
};
