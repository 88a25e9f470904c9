// An executor made with xxl-job, as its README shows.
import express from "express";
import { createXxlJobExecutor } from "xxl-job";

const port = Number(process.env.XXL_PORT);
const jobHandlers = new Map();
jobHandlers.set("success", async (logger, request, params) => {
  logger.info(`收到 ${params}`);
});
jobHandlers.set("slow", (logger, request, params) => new Promise((done) => setTimeout(done, 1000 * Number(params))));
jobHandlers.set("failure", async () => {
  throw new Error("磁盘已满");
});

const app = express();
app.use(express.json());
app.listen(port, "127.0.0.1", () => {
  createXxlJobExecutor({
    app,
    jobHandlers,
    appType: "express",
    accessToken: process.env.XXL_TOKEN,
    baseUrl: `http://127.0.0.1:${port}`,
    executorKey: process.env.XXL_APPNAME,
    scheduleCenterUrl: process.env.XXL_ADMIN,
  }).initialization();
});
