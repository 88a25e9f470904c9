import type { Lang } from "..";
import { executors } from "./executors";
import { fire, pause, remedy } from "./fires";
import { job } from "./job";
import { jobs } from "./jobs";
import { overview } from "./overview";
import { plan } from "./plan";
import { reasons } from "./reasons.gen";
import { run, runs } from "./runs";
import { act, banner, done, error, health, nav, palette, shortcuts, signIn, top } from "./shell";
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
  palette,
  shortcuts,
  signIn,
  overview,
  jobs,
  job,
  runs,
  run,
  reasons,
  reasonJoint: "; ",
  executors,
  plan,
  fire,
  pause,
  remedy,
};

export type Messages = typeof en;
