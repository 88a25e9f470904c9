import { count } from "./words";

/** A step as it is read out. */
export interface SpokenStep {
  at: number;
  of: number;
  name: string;
  state: string;
  after: string[];
  /** So many sources are not named. */
  more: number;
  wrong: boolean;
}

const list = (names: string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

export const steps = {
  steps: (n: number) => count(n, "step", "steps"),
  states: {
    waiting: "Waiting",
    ready: "Ready",
    unknown: "Not known",
    awaits_time: "Waits for a time",
    awaits_signal: "Waits for a signal",
    awaits_approval: "Waits for approval",
    awaits_runs: "Waits for runs",
  },
  finally: "finally",
  piecesEnded: (done: number, total: number) => `${done} of ${total} have ended`,
  mayFail: "may fail",
  tree: (n: number) => `Graph of ${count(n, "step", "steps")}`,
  item: ({ at, of, name, state, after, more, wrong }: SpokenStep) =>
    [
      `step ${at} of ${of}`,
      name,
      state.toLowerCase(),
      wrong && "has a problem",
      after.length > 0 && `after ${list([...after, ...(more > 0 ? [`${more} more`] : [])])}`,
    ]
      .filter(Boolean)
      .join(", "),
  stack: (name: string, n: number) => `${name}, ${n} alike`,
  tally: (n: number, of: number) => `${n} of ${of}`,
  views: "Graph, timeline, steps or log",
  view: { graph: "Graph", timeline: "Timeline", steps: "Steps", log: "Log" },
  columns: {
    step: "Step",
    state: "State",
    after: "After",
    started: "Started",
    duration: "Duration",
    attempt: "Attempt",
    why: "Reason",
  },
  on: { success: "on success", failure: "on failure", end: "on any end", always: "always" },
  join: (join: string) =>
    ({ taken: "the branches that were taken", any: "any of them" })[join] ?? `at least ${join} of them`,
  condition: "If",
  unmet: "not met",
  panel: (step: string) => `Step ${step}`,
  rounds: "Rounds of the step",
  round: (n: number) => `Round ${n}`,
  openRun: "Open as run",
  calls: "calls",
  openCalled: "Open the called run",
  cancel: "Cancel step",
  retry: "Retry step",
  rerunFrom: "Rerun from here",
  hold: {
    verb: "Hold",
    title: "Put the run on hold?",
    hint: "No further step begins until you resume the run. Steps that run or wait go on, and so does the total timeout.",
    note: "Reason",
    held: (since: string, by = "") => `On hold since ${since}${by && `, by ${by}`}. No step begins.`,
    resume: "Resume",
  },
  resolve: {
    verb: "Resolve",
    title: (step: string) => `Resolve step ${step}`,
    hint: "The step counts as ended so from now on. The steps that follow it are decided again.",
    note: "What was done, or why",
  },
  logOf: "Log of the step",
  attemptOf: (n: number, of: number) => `${n} of ${of}`,
  noneYet: "No step has begun yet.",
  critical: "on the critical path",
  criticalHint: "Underlined steps are the critical path: they decided how long the run took.",
  never: (n: number) => `${count(n, "step has", "steps have")} not begun.`,
  ofRun: (step: string, run: string) => `Step ${step} of run ${run}`,
  edit: {
    title: "Steps",
    hint: "What runs after which end of what. All steps run in the job's own group.",
    wrong: "has a problem",
    add: "Add a step",
    make: "Make it a workflow of several steps",
    remove: "Remove step",
    name: "Name",
    stepTitle: "Title",
    on: (step: string) => `Which ends of ${step} count`,
    addEdge: "Add a step it comes after",
    removeEdge: (step: string) => `Do not wait for ${step}`,
    join: "Runs when",
    joinAll: "all of them are met",
    mayFail: "The run may succeed although this step fails",
    forEach: "For each element of a list",
    list: "The list",
    onFailure: "When a step fails",
    onFailureHint: "A step that may fail changes nothing for the others. Finally steps run in each case.",
    policies: {
      continue: "The others go on",
      stop: "Those that have not begun are cancelled",
      cancel: "All others are cancelled, also those that run",
    },
    finally: "Runs after all others, also after a cancellation",
  },
  changes: { added: "added", removed: "removed", changed: "changed" },
  tallies: {
    added: (n: number) => `${count(n, "step", "steps")} added`,
    removed: (n: number) => `${count(n, "step", "steps")} removed`,
    changed: (n: number) => `${count(n, "step", "steps")} changed`,
  },
  edgesAdded: "Edges added",
  edgesRemoved: "Edges removed",
  difference: "What has become of the steps",
  historyViews: "Graph, runs or figures",
  historyView: { graph: "Graph", grid: "Runs", figures: "Figures" },
  heats: {
    idle: "Has not run",
    never: "Never failed",
    rarely: "Failed in up to 5% of the runs",
    sometimes: "Failed in up to 20%",
    often: "Failed more often",
  },
  failed: (share: string) => `${share} failed`,
  counted: (n: number) => `${count(n, "run", "runs")} in this range`,
  countedSince: (n: number, since: string) =>
    `The newest ${count(n, "run", "runs")} of this range, since ${since}`,
  figures: {
    step: "Step",
    runs: "Runs",
    failures: "Failed",
    share: "Share failed",
    p50: "Median",
    p95: "95% take at most",
    last: "Last failure",
  },
  grid: (n: number) => `Steps in ${count(n, "run", "runs")}`,
  gridHint:
    "One column for each run, the newest at the right, at most 30. The bars above show how long the runs took.",
  noRuns: "No runs in this range.",
  cell: (step: string, state: string, run: string) => `${step}, ${state.toLowerCase()}, run of ${run}`,
  noCell: "not in this run",
  column: (run: string, state: string) => `Run of ${run}, ${state.toLowerCase()}`,
  gone: "removed",
  goneHint: "The newest version does not have this step",
  find: "Find a step",
  nextBad: "Next failed step",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  showAll: "Show all",
  noLayout: "The graph cannot be drawn in this browser. The table lists all steps.",
};
