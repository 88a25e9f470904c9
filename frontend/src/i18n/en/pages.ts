import { alerts } from "./alerts";
import { audit } from "./audit";
import { backfill } from "./backfill";
import { bulkBackfill } from "./bulkbackfill";
import { bus } from "./bus";
import { calendars } from "./calendars";
import { clock } from "./clock";
import { cluster } from "./cluster";
import { errors } from "./errors";
import { fieldNames } from "./fieldnames";
import { fire, remedy } from "./fire";
import { fleet } from "./fleet";
import { importing } from "./importing";
import { job } from "./job";
import { joblist } from "./joblist";
import { jobPatch } from "./jobpatch";
import { ledger } from "./ledger";
import { localFindings } from "./local-findings.gen";
import { localRefusals } from "./local-refusals.gen";
import { logs } from "./logs";
import { month } from "./month";
import { palette, shortcuts } from "./palette";
import { pings } from "./pings";
import { plan } from "./plan";
import { policies } from "./policies";
import { range } from "./range";
import { reports } from "./reports";
import { retention } from "./retention";
import { run } from "./run";
import { runlist } from "./runlist";
import { schedule } from "./schedule";
import { secrets } from "./secrets";
import { settings } from "./settings";
import { steps } from "./steps";
import { views } from "./views";
import { waits } from "./waits";
import { why } from "./why";
import { whyForm } from "./whyform";

/** The texts that not every page needs: in a file of their own, so that a first visit does not wait for them. */
export const pages = {
  alerts,
  audit,
  backfill,
  bulkBackfill,
  bus,
  calendars,
  clock,
  cluster,
  errors,
  fieldNames,
  fire,
  fleet,
  importing,
  job,
  joblist,
  jobPatch,
  ledger,
  logs,
  month,
  palette,
  pings,
  plan,
  policies,
  range,
  remedy,
  refusals: { ...localRefusals, ...localFindings },
  reports,
  retention,
  run,
  runlist,
  schedule,
  secrets,
  settings,
  shortcuts,
  steps,
  views,
  waits,
  why,
  whyForm,
};

export type PageMessages = typeof pages;
