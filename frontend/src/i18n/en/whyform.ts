/** The box that asks why a job ran or did not run. */
export const whyForm = {
  title: "Why not?",
  hint: "Why a job ran, or did not run, at one time",
  job: "Job",
  at: "Time",
  example: "yesterday 09:00",
  explain: "Explain",
  wrongJob: "Enter a job as GROUP/NAME",
  wrongTime: "Enter a time, such as 2026-11-30 09:00 or yesterday 09:00",
};
