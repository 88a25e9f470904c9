import type { Messages } from "../en";
import { executors } from "./executors";
import { fire, pause, remedy } from "./fires";
import { job } from "./job";
import { jobs } from "./jobs";
import { overview } from "./overview";
import { plan } from "./plan";
import { reasons } from "./reasons";
import { run, runs } from "./runs";
import { act, banner, done, error, health, nav, palette, shortcuts, signIn, top } from "./shell";
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
  palette,
  shortcuts,
  signIn,
  overview,
  jobs,
  job,
  runs,
  run,
  reasons,
  reasonJoint: "；",
  executors,
  plan,
  fire,
  pause,
  remedy,
};
