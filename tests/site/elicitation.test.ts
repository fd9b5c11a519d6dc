/** Servers that ask a person to open a page (MCP, "Elicitation", URL mode). */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Elsewhere, forPages, listen } from "../package/tools/elsewhere.js";
import { violations } from "./page-checks.js";
import { begin, connect, during, visitor } from "./visit.js";

interface Asking extends Elsewhere {
  readonly url: string;
}

/** A server whose tool asks for a page to be opened, and says what the person did; it has that page, too. */
async function serveAsking(): Promise<Asking> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function begun(): Promise<StreamableHTTPServerTransport> {
    const server = new McpServer({ name: "asking", version: "1" });
    server.registerTool("open_page", { inputSchema: { url: z.string() } }, async ({ url }) => {
      const page = { mode: "url", message: "Confirm the payment.", url, elicitationId: randomUUID() } as const;
      const { action } = await server.server.elicitInput(page);
      return { content: [{ type: "text", text: `The person said: ${action}` }] };
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

test("nothing of it is complained of", () => {
  expect(seen.complaints).toEqual([]);
});
