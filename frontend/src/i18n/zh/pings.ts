import type { PageMessages } from "../en/pages";
import { number } from "./words";

export const pings: PageMessages["pings"] = {
  title: "Ping",
  elsewhere: "此任务在外部运行，由 ping 上报。",
  reportedBy: (host) => (host ? `由 ${host} 的 ping 上报` : "由 ping 上报"),
  never: "正在等待第一次 ping。",
  waiting: "还没有运行记录。",
  nextFire: (inText) => `下次触发：${inText}。`,
  expected: (since, until) =>
    until ? `从 ${since} 起等待 ping，截至 ${until}。` : `从 ${since} 起等待 ping。`,
  running: (since, host) => (host ? `自 ${since} 起在 ${host} 上运行。` : `自 ${since} 起运行中。`),
  missed: (fire) => `逾期：没有收到 ${fire} 触发的 ping。`,
  noEnd: (start) => `逾期：${start} 开始的运行没有上报结束。`,
  ended: (ago, host, status) => `${status}：最近一次运行${host ? `在 ${host} 上` : ""}于${ago}结束。`,
  lines: "可粘贴的内容",
  copyLines: "复制可粘贴的内容",
  placeholder: "TOKEN",
  linesHint: "新建令牌时会显示填好令牌的内容。",
  ways: {
    crontab: "crontab",
    curl: "curl",
    systemd: "systemd",
    kubernetes: "Kubernetes",
    powershell: "PowerShell",
    python: "Python",
  },
  wayHints: {
    crontab: "carillon watch 上报开始、退出码和输出；服务器不可用时先保存在本地。",
    curl: "上报退出码，只需要 curl。",
    systemd: "用于定时器对应的服务，上报成功或失败。",
    kubernetes: "用于 CronJob 的 Pod，镜像中需有 shell 和 curl。",
    powershell: "用于计划任务的脚本，上报成功或失败。",
    python: "上报命令的退出码。",
  },
  tokens: "Ping 令牌",
  token: "令牌",
  by: "创建者",
  lastUsed: "最近使用",
  lastHost: "最近主机",
  ends: "失效时间",
  unused: "从未使用",
  noEndSet: "不会失效",
  noTokens: "请先新建令牌。令牌只能用于上报此任务的运行。",
  create: "新建令牌",
  made: "新的 ping 令牌",
  madeHint: "请立即复制，之后不再显示。持有此地址的人都可以上报此任务的运行。",
  localURL: "服务器没有设置公开地址。这是您浏览器访问的地址，其他机器可能无法访问。",
  rotate: "轮换",
  rotateAsk: "轮换 ping 令牌？",
  rotateHint: "将新建一个令牌。其他令牌 7 天后失效，请在此之前替换。",
  revoke: "删除",
  revokeAsk: (id) => `删除 ping 令牌 ${id}？`,
  revokeHint: "此后用它发送的 ping 会被拒绝，对应的触发将记为错过。",
  revoked: (id) => `已删除 ping 令牌 ${id}`,
  refused: (tooMany, method) =>
    [
      tooMany > 0 && `已拒绝 ${number(tooMany)} 次 ping：一分钟内次数过多。`,
      method > 0 && `已拒绝 ${number(method)} 次 ping：请求方法不允许。`,
    ]
      .filter(Boolean)
      .join(""),
};
