// Package powerjob makes jobs of what PowerJob's server says of its jobs and workflows, in JSON: the answers of
// /workflow/fetch, /job/list and /job/export, of /openApi/fetchWorkflow and /openApi/fetchAllJob, or a list of
// them, or several in one file.
//
// An application becomes an executor group, which the caller names. A job becomes a job. A workflow becomes a job
// with steps, which call the jobs of its nodes:
//
//   - A node that is disabled counts as done in PowerJob. It is left out, and what follows it follows what was before.
//   - A decision whose script compares values becomes conditions of the steps after it. One that does more becomes a
//     step with a handler that somebody has to write.
//   - A node that may be skipped when it fails may fail here, too. Any other failure ends a workflow in PowerJob, so
//     no further step begins then.
//
// What nodes write into the context of a workflow are here results of steps, which those that need them name in
// their parameters. That is not converted, but for conditions.
package powerjob
