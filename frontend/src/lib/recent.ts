/** A page that was looked at: a job's or a run's. */
export interface Recent {
  path: string;
  /** The job, and of a run the end of its id. */
  text: string;
}

const key = "carillon.recent";
const most = 6;

function isRecent(x: unknown): x is Recent {
  return (
    typeof x === "object" &&
    x !== null &&
    "path" in x &&
    typeof x.path === "string" &&
    "text" in x &&
    typeof x.text === "string"
  );
}

/** What was looked at last in this browser, the newest first. */
export function recent(): Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecent).slice(0, most) : [];
  } catch {
    return []; // storage is closed to us, or somebody else's
  }
}

const jobPage = /^\/jobs\/([^/]+)\/([^/]+)(?:\/[a-z]+)?$/;

/** Keeps the page of a job in mind, once somebody looks at it. */
export function noteVisit(path: string): void {
  const [, group, name] = jobPage.exec(path) ?? [];
  if (!group || !name) return;
  const here = { path: `/jobs/${group}/${name}`, text: `${group}/${name}` };
  try {
    const others = recent().filter((r) => r.path !== here.path);
    localStorage.setItem(key, JSON.stringify([here, ...others].slice(0, most)));
  } catch {
    // Nothing is kept, then.
  }
}
