// An executor made with @dalongrong/xxl-job-executor, as its example for express shows.
Object.assign(process.env, {
  XXL_JOB_EXECUTOR_KEY: process.env.XXL_APPNAME,
  XXL_JOB_SCHEDULE_CENTER_URL: process.env.XXL_ADMIN,
  XXL_JOB_ACCESS_TOKEN: process.env.XXL_TOKEN,
  XXL_JOB_JOB_LOG_PATH: process.env.XXL_LOGS,
});
const XxlJobExecutor = require("@dalongrong/xxl-job-executor");
const jobHandlers = new Map([
  ["success", async (logger, params) => logger.debug("收到 %o", params)],
  ["slow", (logger, params) => new Promise((done) => setTimeout(done, 1000 * Number(params)))],
  [
    "failure",
    async () => {
      throw new Error("磁盘已满");
    },
  ],
]);
const port = Number(process.env.XXL_PORT);
const app = require("express")();
app.use(require("body-parser").json());
new XxlJobExecutor(jobHandlers, {}).applyMiddleware({
  app,
  appType: "EXPRESS",
  appDomain: `http://127.0.0.1:${port}`,
  path: "/job",
});
app.listen(port, "127.0.0.1");
