import type { PageMessages } from "../en/pages";
import { alerts } from "./alerts";
import { audit } from "./audit";
import { backfill } from "./backfill";
import { bus } from "./bus";
import { calendars } from "./calendars";
import { clock } from "./clock";
import { cluster } from "./cluster";
import { editor } from "./editor";
import { fleet } from "./fleet";
import { importing } from "./importing";
import { joblist } from "./joblist";
import { ledger } from "./ledger";
import { logs } from "./logs";
import { policies } from "./policies";
import { reports } from "./reports";
import { retention } from "./retention";
import { schedule } from "./schedule";
import { secrets } from "./secrets";
import { settings } from "./settings";
import { views } from "./views";

export const pages: PageMessages = {
  alerts,
  audit,
  backfill,
  bus,
  calendars,
  clock,
  cluster,
  editor,
  fleet,
  importing,
  joblist,
  ledger,
  logs,
  policies,
  reports,
  retention,
  schedule,
  secrets,
  settings,
  views,
};
