import { once } from "node:events";
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

/** Three or more Latin words in a row, which neither names nor code are. */
async function english(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent?.checkVisibility() && !parent.closest("code, pre, kbd, script, style, .mono"))
        found.push(walker.currentNode.textContent ?? "");
    }
    for (const e of document.querySelectorAll("[title], [aria-label], [placeholder]"))
      found.push(
        e.getAttribute("title") ?? "",
        e.getAttribute("aria-label") ?? "",
        e.getAttribute("placeholder") ?? "",
      );
    return found;
  });
  return texts.filter((text) =>
    /[A-Za-z][a-z']* [A-Za-z][a-z']* [A-Za-z][a-z']*/.test(text.replace(/carillon get [a-z-]+/g, "")),
  );
}

it("says nothing in English to who reads Chinese", async () => {
  const hook = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { "Content-Type": "text/plain" }).end("busy");
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  const address = hook.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}/`;
  await program.api("PUT", "/alerts/channels/tea", { channel: "tea", kind: "webhook", url });
  await program.api("PUT", "/alerts/rules/any-failure", {
    alert: "any-failure",
    match: { groups: ["default"] },
    severity: "critical",
    channels: ["tea"],
  });
  await program.job("default/broken", "exit 3");
  await program.run("default/broken");
  const { page, faults, close } = await open("/alerts/rules", { lang: "zh" });
  const check = async (where: string) => expect(await english(page), where).toEqual([]);

  const builtIn = page.locator("tr", { hasText: "clocks-wrong" });
  await builtIn.getByText("该机器上的服务器会停止触发").waitFor();
  await check("rules");
  await page.getByRole("button", { name: "新建规则" }).click();
  await page.getByRole("button", { name: "用最近 7 天试算" }).click();
  await page.getByText("任务 default/broken 执行失败").waitFor();
  await check("a trial");
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "告警事件", exact: true }).click();
  const incident = page.locator("tr", { hasText: "any-failure" });
  await incident.getByText("任务 default/broken 执行失败").waitFor();
  await incident.getByText("退出码 3").waitFor();
  await check("incidents");
  await incident.click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("对方响应 503 Service Unavailable：busy").waitFor();
  await check("an incident");
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "1h" }).click();
  await drawer.getByRole("button", { name: "解决", exact: true }).click();
  await drawer.getByText(/^由 .+ 解决$/).waitFor();
  await drawer.getByText("发送之前告警已恢复").first().waitFor();
  await check("an incident that is over");
  await page.keyboard.press("Escape");

  for (const [tab, text] of [
    ["已解决", "任务 default/broken 执行失败"],
    ["已认领", "没有已认领的告警"],
    ["已暂缓", "没有暂缓的告警"],
    ["静默", "any-failure"],
    ["渠道", "tea"],
  ] as const) {
    await page
      .getByRole(tab.startsWith("已") ? "button" : "link", { name: new RegExp(`^${tab}( \\d+)?$`) })
      .click();
    await page.getByText(text).first().waitFor();
    await check(tab);
  }
  await page.locator("tr", { hasText: "tea" }).getByRole("button", { name: "测试", exact: true }).click();
  await drawer.getByText(/^这是渠道 tea 的测试消息，由 .+ 发送$/).waitFor();
  await drawer.getByText("对方响应 503 Service Unavailable：busy").first().waitFor();
  await check("a channel's messages");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "新建渠道" }).click();
  await drawer.getByLabel("名称").fill("chat");
  await drawer.getByLabel("地址").fill(url);
  await drawer.getByLabel("消息时区").fill("Peking");
  await drawer.getByText("没有该时区").waitFor();
  expect(await drawer.getByRole("button", { name: "保存" }).isDisabled()).toBe(true);
  await drawer.getByLabel("消息时区").fill("Asia/Shanghai");
  await check("a new channel");
  await drawer.getByRole("button", { name: "保存" }).click();
  await page.locator("tr", { hasText: "chat" }).waitFor();
  const { definition } = await program.api<{ definition: unknown }>("GET", "/alerts/channels/chat");
  expect(definition).toMatchObject({ language: "zh", zone: "Asia/Shanghai" });

  for (const [path, ready] of [
    ["/", ".nav"],
    ["/jobs/default/broken", ".incident"],
  ] as const) {
    await page.goto(program.url + path);
    await page.locator(ready).first().waitFor();
    await check(path);
  }
  const other = await open("/alerts/rules", { lang: "en" });
  await other.page.locator("tr", { hasText: "clocks-wrong" }).waitFor();
  expect(await english(other.page), "what this test looks for").not.toEqual([]);
  await other.close();
  hook.close();
  expect(faults).toEqual([]);
  await close();
});
