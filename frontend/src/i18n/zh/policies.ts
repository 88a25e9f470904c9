import type { policies as english } from "../en/policies";
import { list } from "./words";

const share = (s: string | undefined) => (s ? `其中 ${s} 成功即可。` : "须全部成功。");
const atOnce = (n: number) => (n > 0 ? `，同时 ${n} 个` : "");

export const policies: typeof english = {
  title: "用文字说明",
  allow: "允许多次运行重叠。",
  allowUpTo: (n) => `最多同时 ${n} 次运行，超出的跳过。`,
  queue: (limit, queue, oldest) =>
    `同时 ${limit} 次运行，最多 ${queue} 次排队，再多则跳过${oldest ? "最早" : "最新"}的一次。`,
  skip: (limit) =>
    limit === 1 ? "上一次未结束时，新的运行被跳过。" : `已有 ${limit} 次运行时，新的运行被跳过。`,
  replace: (limit) =>
    limit === 1 ? "新的运行会终止正在进行的运行。" : `已有 ${limit} 次运行时，新的运行终止最早的一次。`,
  byKey: (said, key, total) =>
    `按 ${key} 的每个取值：${said}${total ? `合计最多同时 ${total} 次运行。` : ""}`,
  misfire: {
    skip: "错过的触发只记录，不补跑。",
    fire_once: "错过的触发合并补跑一次。",
    fire_all: "错过的触发逐次补跑。",
  },
  noRetry: "失败后不重试。",
  ends: { failed: "失败", timed_out: "超时", lost: "失联" },
  retry: (n, ends, waits, codes) =>
    `${list(ends)}${codes.length > 0 ? `（退出码 ${codes.join("、")}）` : ""}后最多重试 ${n} 次，${waits}。`,
  backoff: {
    constant: (delay) => `每次间隔 ${delay}`,
    linear: (delay, most) => `间隔从 ${delay} 起线性递增，最长 ${most}`,
    exponential: (delay, most) => `间隔从 ${delay} 起逐次翻倍，最长 ${most}`,
  },
  dropStale: "后续触发运行成功后不再重试。",
  atMostOnce: "执行器失联时，该次运行记为失联，不会重复执行。",
  maxDeliveries: (n) => `同一次尝试运行期间执行器异常终止 ${n} 次后记为失联。`,
  timeout: (d, grace) => `单次尝试超过 ${d} 时通知其停止，再过 ${grace} 强制终止。`,
  watch: (d) => `每次触发后 ${d} 内须收到 ping，否则记为错过触发。`,
  endsWithin: (d) => `开始 ${d} 后仍未结束的运行记为超时。`,
  totalTimeout: (d) => `所有尝试合计最多 ${d}。`,
  warnAfter: (d) => `超过 ${d} 时在日志中写入警告。`,
  startWithin: (d) => `到期 ${d} 后仍未开始的运行记为错过触发。`,
  pauseAfter: (n) => `连续 ${n} 次未成功后自动暂停。`,
  broadcast: (s) => `每个在线执行器各执行一个分片。${share(s)}`,
  pieces: (n, at, s) => `分为 ${n} 个分片${atOnce(at)}。${share(s)}`,
  split: (at, s) => `首次尝试列出分片，随后逐片执行${atOnce(at)}。${share(s)}`,
  child: {
    success: (job) => `成功后运行 ${job}。`,
    failure: (job) => `失败后运行 ${job}。`,
    end: (job) => `结束后运行 ${job}。`,
  },
  passResult: "并以本任务的结果作为参数。",
};
