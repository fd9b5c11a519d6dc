/** Servers that ask a person to open a page (MCP, "Elicitation", URL mode), and those that ask a model (MCP, "Sampling"). */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema, type McpError } from "@modelcontextprotocol/sdk/types.js";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Elsewhere, forPages, listen } from "../package/tools/elsewhere.js";
import { serveModel } from "./model-server.js";
import { violations } from "./page-checks.js";
import { begin, connect, during, go, visitor } from "./visit.js";

interface Asking extends Elsewhere {
  readonly url: string;
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A server whose tools ask for a page to be opened and for a model, and say what came of it; it has that page, too. */
async function serveAsking(): Promise<Asking> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function begun(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: "asking", version: "1" });
    server.registerTool("open_page", { inputSchema: { url: z.string() } }, async ({ url }) => {
      const page = { mode: "url", message: "Confirm the payment.", url, elicitationId: randomUUID() } as const;
      const { action } = await server.server.elicitInput(page);
      return { content: [{ type: "text", text: `The person said: ${action}` }] };
    });
    server.registerTool("ask_model", { inputSchema: { about: z.string() } }, async ({ about }, { sendRequest }) => {
      const text = { type: "text", text: about } as const;
      const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
      const params = {
        messages: [text, image].map((content) => ({ role: "user" as const, content })),
        systemPrompt: "Answer in one sentence.",
        maxTokens: 1234,
        modelPreferences: { hints: [{ name: "claude" }] },
      };
      const asked = sendRequest({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
      const answer = await asked.then(
        ({ model, content }) => `${content.type === "text" ? content.text : ""} (${model})`,
        ({ code }: McpError) => `no, ${code}`,
      );
      return { content: [{ type: "text", text: `The person said: ${answer}` }] };
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport);
    return transport;
  }

  const served = await listen(() =>
    forPages((request, response) => {
      if (request.url !== "/mcp") {
        response.setHeader("content-type", "text/html").end("<title>Payment</title><p>Pay here.</p>");
        return;
      }
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      void Promise.resolve(known ?? begun()).then((transport) => transport.handleRequest(request, response));
    }),
  );
  return { ...served, url: `${served.origin}/mcp` };
}

const server = during(serveAsking);
const seen = visitor();
const pauseOf = (page: Page): Locator => page.getByRole("group", { name: "A call is waiting for you" });

async function said(page: Page, action: string): Promise<void> {
  await page
    .locator("playground-tools")
    .getByLabel("What the model sees")
    .getByText(`The person said: ${action}`)
    .first()
    .waitFor();
}

test("the whole address is shown, and opened by a click alone, in a window that knows nothing of the page", async () => {
  const { page, context } = seen;
  await connect(page, server().url);
  const address = `${server().origin}/pay?order=${"4711".repeat(40)}`;
  await begin(page, "open_page", { url: address });
  const pause = pauseOf(page);
  await pause.getByText(address).waitFor();
  expect(await pause.innerText()).toContain(new URL(address).host);
  await page.evaluate(() => {
    const playground = document.querySelector("sluice-playground")?.shadowRoot;
    const card = playground?.querySelector("playground-pause")?.shadowRoot;
    card?.querySelector<HTMLElement>("button.primary")?.click();
  });
  await page.waitForTimeout(300);
  expect(context.pages()).toHaveLength(1);

  const opening = context.waitForEvent("page");
  await pause.getByRole("button", { name: "Open the page" }).click();
  const window = await opening;
  await window.getByText("Pay here.").waitFor();
  expect(window.url()).toBe(address);
  expect(await window.evaluate(() => globalThis.opener === null && document.referrer === "")).toBe(true);
  await window.close();
  await said(page, "accept");
  expect(await pause.count()).toBe(0);
});

test("a person declines with the keyboard, and nothing is opened", async () => {
  const { page, context } = seen;
  await begin(page, "open_page", { url: `${server().origin}/pay` });
  const decline = pauseOf(page).getByRole("button", { name: "Decline" });
  await decline.focus();
  await page.keyboard.press("Enter");
  await said(page, "decline");
  expect(context.pages()).toHaveLength(1);
});

test("a call that is cancelled takes its question back", async () => {
  const { page } = seen;
  await begin(page, "open_page", { url: `${server().origin}/pay` });
  await pauseOf(page).waitFor();
  await page.locator("playground-tools").getByRole("button", { name: "Cancel" }).click();
  await pauseOf(page).waitFor({ state: "detached" });
  await page.locator("playground-tools").getByText("Cancelled.").waitFor();
});

test.each([
  "javascript:alert(1)",
  "data:text/html,hello",
  "file:///etc/passwd",
  "http://pay.example/",
  "https://ada:pw@pay.example/",
])("%s is declined without asking anybody", async (address) => {
  const { page, context } = seen;
  await begin(page, "open_page", { url: address });
  await said(page, "decline");
  expect(await pauseOf(page).count()).toBe(0);
  expect(context.pages()).toHaveLength(1);
});

test("at 390 pixels a long address breaks, and nothing is wider than the window", async () => {
  const { page } = seen;
  await begin(page, "open_page", { url: `${server().origin}/pay?order=${"4711".repeat(80)}` });
  await pauseOf(page).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  const { width = 0 } = (await pauseOf(page).boundingBox()) ?? {};
  expect(width).toBeLessThanOrEqual(390);
  await pauseOf(page).getByRole("button", { name: "Decline" }).click();
});

describe("a server that asks a model", () => {
  const model = during(() => serveModel(() => ({ text: "It is a red pixel." }), "secret"));
  const about = `Look\u202e at ${"this ".repeat(40)}<img src=x onerror=alert(1)>`;

  test("is shown with all that it says, and gets what a person writes", async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 1440, height: 900 });
    await begin(page, "ask_model", { about });
    const pause = pauseOf(page);
    await pause.getByText("wants a model to answer, for its tool ask_model.").waitFor();
    await pause.getByText("At most 1,234 tokens, if possible by claude.").waitFor();
    const messages = pause.getByRole("list", { name: "Messages" }).getByRole("listitem");
    expect(await messages.first().innerText()).toMatch(/^system\s+Answer in one sentence\.$/);
    expect(await messages.nth(1).innerText()).toContain(
      `Look at this ${"this ".repeat(39)}<img src=x onerror=alert(1)>`,
    );
    await messages.nth(2).locator("sluice-artifact").getByText("PNG").first().waitFor();
    expect(await violations(page)).toEqual([]);
    const answer = pause.getByRole("button", { name: "Answer", exact: true });
    expect(await answer.getAttribute("aria-disabled")).toBe("true");
    await pause.getByRole("textbox", { name: "The model's answer" }).fill("A pixel.");
    await answer.click();
    await said(page, "A pixel. (person)");
    expect(await pauseOf(page).count()).toBe(0);
    await page.locator("playground-tools").getByRole("tab", { name: "JSON-RPC" }).click();
    const request = page
      .locator("playground-messages")
      .getByRole("listitem")
      .filter({ hasText: "sampling/createMessage" });
    await request.getByRole("button", { name: /answered$/ }).click();
    await request.getByRole("region", { name: "Answer of the page" }).getByText("A pixel.").waitFor();
    await page.locator("playground-tools").getByRole("tab", { name: "Result" }).click();
  });

  test("is told that a person declines, and the call goes on", async () => {
    const { page } = seen;
    await begin(page, "ask_model", { about });
    await pauseOf(page).getByRole("button", { name: "Decline" }).click();
    await said(page, "no, -1");
  });

  test("gets what the chat's model wrote, once a person has read it", async () => {
    const { page } = seen;
    await go(page, "Chat");
    await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Model" });
    await dialog.getByRole("radio", { name: /^A model of your own/ }).check();
    await dialog.getByRole("textbox", { name: "Address" }).fill(model().url);
    await dialog.getByRole("textbox", { name: "Model", exact: true }).fill("small-1");
    await dialog.getByLabel("Key (optional)").fill("secret");
    await dialog.getByRole("button", { name: "Use it" }).click();
    await begin(page, "ask_model", { about });
    const pause = pauseOf(page);
    await pause.getByRole("button", { name: "Let small-1 write it" }).click();
    await expect
      .poll(() => pause.getByRole("textbox", { name: "The model's answer" }).inputValue())
      .toBe("It is a red pixel.");
    expect(model().asked.at(-1)?.messages).toEqual([
      { role: "system", content: "Answer in one sentence." },
      { role: "user", content: expect.stringContaining("Look at this") as string },
      { role: "user", content: expect.stringMatching(/^\[PNG image/) as string },
    ]);
    await pause.getByRole("button", { name: "Answer", exact: true }).click();
    await said(page, "It is a red pixel. (small-1)");
  });

  test("at 390 pixels nothing is wider than the window, and the answer is in reach", async () => {
    const { page } = seen;
    await page.setViewportSize({ width: 390, height: 844 });
    await begin(page, "ask_model", { about: "x".repeat(3000) });
    const pause = pauseOf(page);
    await pause.getByRole("textbox", { name: "The model's answer" }).fill("Long.");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await pause.getByRole("button", { name: "Answer", exact: true }).click();
    await pause.waitFor({ state: "detached" });
  });
});

test("nothing of it is complained of", () => {
  expect(seen.complaints).toEqual([]);
});
