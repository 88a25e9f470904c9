/** The two parts of a job's name. */
export interface JobRef {
  group: string;
  name: string;
}

export function refOf(job: string): JobRef {
  const slash = job.indexOf("/");
  return { group: job.slice(0, slash), name: job.slice(slash + 1) };
}
