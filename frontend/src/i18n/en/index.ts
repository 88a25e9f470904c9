import type { Lang } from "..";
import { executors } from "./executors";
import { jobs } from "./jobs";
import { localReasons } from "./local-reasons.gen";
import { overview } from "./overview";
import { pause } from "./pause";
import { rangeNames } from "./range";
import { runs } from "./runs";
import { act, banner, done, error, health, nav, signIn, top } from "./shell";
import { cause, dayNames, monthNames, shortDays, state, status, time } from "./terms";

/** The texts of the console in English, which is also the type of every other language. */
export const en = {
  lang: "en" as Lang,
  product: "Carillon",
  skip: "Skip to content",
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
  reasons: localReasons,
  reasonJoint: "; ",
  executors,
  pause,
};

export type Messages = typeof en;
