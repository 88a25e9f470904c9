// Schedules of jobs that must not fire while a test counts runs or fires, whenever the test runs.

/** Once an hour, next in half an hour. */
export const hourly = () => `${(new Date().getUTCMinutes() + 30) % 60} * * * *`;

/** Once a day, next in about half a day, by UTC. */
export const daily = () => `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
