/** What somebody looks into: messages, how servers introduce themselves, prompts, forms, and servers that die. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { forPages, listen } from "../package/tools/elsewhere.js";
import { freePort } from "../unit/redis/redis-server.js";
import { stored } from "./databases.js";
import { connect, dial, during, go, run, SITE_URL, visitor } from "./visit.js";

const PROGRAM = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

interface Program extends AsyncDisposable {
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** A server with prompts, as a process that can die and come back. */
async function program(): Promise<Program> {
  const port = String(await freePort());
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const env = { ...process.env, PORT: port };
    child = spawn(process.execPath, [PROGRAM, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    for await (const chunk of child.stderr ?? []) {
      said += String(chunk);
      if (said.includes("listening")) return;
    }
    throw new Error(`It does not listen: ${said}`);
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  await start();
  return { url: `http://127.0.0.1:${port}/mcp`, start, kill, [Symbol.asyncDispose]: kill };
}

/** The rows of messages with this method. */
function rows(page: Page, method: string): Locator {
  return page.locator("playground-messages").getByRole("listitem").filter({ hasText: method });
}

const server = during(program);
const seen = visitor();

describe("messages", () => {
  test("the Log shows what was sent and answered, and unfolds it", async () => {
    const { page } = seen;
    await go(page, "Log");
    await page.getByRole("tab", { name: "Events" }).press("ArrowRight");
    const call = rows(page, "tools/call").first();
    await call.getByRole("button").click();
    expect(await call.getByRole("group", { name: "Sent" }).innerText()).toContain('"name": "sales_report"');
    const answer = call.getByRole("region", { name: "Answer of the server" });
    expect(await answer.innerText()).toMatch(/MB, the first 8 KB shown/);
    expect((await answer.getByRole("group").innerText()).length).toBeLessThan(10_000);
  });

  test("a new call is there without anybody asking", async () => {
    const { page } = seen;
    await run(page, "small_talk");
    await go(page, "Log");
    await page.getByRole("tab", { name: "Messages" }).click();
    await page.getByRole("searchbox", { name: /^Search messages/ }).fill("tools/call");
    await expect.poll(() => rows(page, "tools/call").count()).toBe(2);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("No messages are recorded here yet.").waitFor();
  });
});

/** What the page knows of its servers. */
interface Innards {
  readonly store: { readonly state: Readonly<Record<"servers" | "server" | "calls", unknown>> };
  readonly actions: {
    readonly readers: ReadonlyMap<string, unknown>;
    readonly engine: { exchanges(): Promise<readonly { readonly server: string }[]> };
    addressOf(name: string): unknown;
  };
}

/** Everything that lists servers: the page's state, its resources and messages, and what it remembers. */
async function lists(page: Page, name: string): Promise<unknown> {
  const inPage = await page.evaluate(async (named) => {
    const { store, actions } = document.querySelector("sluice-playground") as unknown as Innards;
    const { servers, server: current, calls } = store.state;
    const talked = new Set((await actions.engine.exchanges()).map((exchange) => exchange.server));
    const readers = [...actions.readers.keys()];
    return { servers, current, calls, readers, talked: [...talked], address: actions.addressOf(named) ?? null };
  }, name);
  const databases = await page.evaluate(() => indexedDB.databases());
  const remembered = await Promise.all(databases.map((each) => stored(page, each.name ?? "")));
  return { ...inPage, isRemembered: remembered.some((text) => text.includes(name)) };
}

/** A server of which nothing can be listed: it lets anybody in, and counts who is still there. */
async function lame(): Promise<
  AsyncDisposable & { readonly origin: string; readonly left: () => number; readonly came: () => number }
> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let came = 0;
  async function begun(): Promise<StreamableHTTPServerTransport> {
    came += 1;
    const own = new Server({ name: "lame", version: "1" }, { capabilities: { tools: {} } });
    own.setRequestHandler(ListToolsRequestSchema, () => {
      throw new Error("The list is lost.");
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await own.connect(transport);
    return transport;
  }
  const served = await listen(() =>
    forPages((request, response) => {
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      void Promise.resolve(known ?? begun()).then((transport) => transport.handleRequest(request, response));
    }),
  );
  return { ...served, left: () => sessions.size, came: () => came };
}

describe("a connection that fails", () => {
  const fails = during(lame);

  test.each([
    ["nobody answers", async () => `http://127.0.0.1:${await freePort()}/mcp`, false],
    ["a page answers", async () => SITE_URL, false],
    ["a server answers that cannot list its tools", async () => `${fails().origin}/mcp`, true],
  ])("because %s leaves nothing behind, and names the address that was typed", async (_why, address, isMcp) => {
    const { page } = seen;
    const typed = await address();
    const name = `local-${new URL(typed).port}`;
    const before = await lists(page, name);
    await dial(page, `${typed}?key=hunter2`);
    const dialog = page.getByRole("dialog", { name: "Servers" });
    const alert = dialog.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain(`${typed}: `);
    expect(await alert.innerText()).not.toContain("hunter2");
    expect(await dialog.getByRole("textbox", { name: "Address" }).inputValue()).toBe(`${typed}?key=hunter2`);
    expect(await dialog.getByRole("listitem").filter({ hasText: name }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await lists(page, name)).toEqual(before);
    expect(fails().came() > 0).toBe(isMcp);
    await expect.poll(() => fails().left()).toBe(0);
  });
});

describe("servers", () => {
  test("an address of another kind is refused beside the field, before anything is sent", async () => {
    const { page, requests } = seen;
    await page.locator("playground-servers").getByRole("button").first().click();
    const dialog = page.getByRole("dialog", { name: "Servers" });
    await dialog.getByRole("textbox", { name: "Address" }).fill("ftp://files.example/mcp");
    await dialog.getByRole("button", { name: "Connect", exact: true }).click();
    expect(await dialog.getByRole("alert").innerText()).toContain("cannot connect over ftp");
    expect(requests.some((url) => url.startsWith("ftp:"))).toBe(false);
    await dialog.getByText("About demo").click();
    await dialog.getByText("A shop that does not exist.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
  });

  test("a server's prompts are listed, and what one gives is shown with its roles", async () => {
    const { page } = seen;
    await connect(page, server().url);
    const view = page.locator("playground-tools");
    await view.getByText("added by Sluice").first().waitFor();
    await view.getByRole("button", { name: "Prompts" }).click();
    await view.getByRole("button", { name: /^Arguments Prompt/ }).click();
    await view.locator("playground-arguments [name=city]").fill("Bern");
    await view.getByRole("button", { name: "Get the prompt" }).click();
    expect(await view.getByRole("list", { name: "Messages" }).getByRole("listitem").innerText()).toContain("Bern");
    await view.getByRole("button", { name: "Tools", exact: true }).click();
  });

  test("one that died says so, and one that came back, too", async () => {
    const { page } = seen;
    await server().kill();
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    const bar = page.locator("playground-bar");
    await bar.getByRole("button", { name: /not connected\. Servers$/ }).waitFor();
    const alert = page.locator("playground-tools").getByRole("alert");
    expect(await alert.innerText()).toContain(server().url);
    await server().start();
    await alert.getByRole("button", { name: "Connect again" }).click();
    await bar.getByRole("button", { name: /\bconnected\. Servers$/ }).waitFor();
    await run(page, "echo", { message: "hello" });
    await page.locator("playground-tools").getByLabel("What the model sees").getByText("hello").first().waitFor();
  });
});

describe("forms", () => {
  test("nested arguments: lists, objects, alternatives and JSON", async () => {
    const { page } = seen;
    await go(page, "Tools");
    const form = page.locator("body > playground-arguments");
    // One of its own: that of the view takes the schema of its tool whenever a server tells of tools.
    await page.evaluate(() => {
      const element = document.body.appendChild(document.createElement("playground-arguments"));
      Object.assign(element, {
        schema: {
          type: "object",
          properties: {
            orders: {
              type: "array",
              title: "Orders",
              minItems: 1,
              items: {
                type: "object",
                properties: {
                  sku: { type: "string", minLength: 1, title: "SKU" },
                  count: { type: "integer", minimum: 1 },
                },
                required: ["sku"],
              },
            },
            shape: {
              title: "Shape",
              oneOf: [
                {
                  type: "object",
                  properties: { kind: { const: "circle" }, radius: { type: "number" } },
                  required: ["kind", "radius"],
                },
                { type: "object", properties: { kind: { const: "point" } }, required: ["kind"] },
              ],
            },
            extra: {
              type: "object",
              title: "Extra",
              properties: { name: { type: "string", minLength: 1 } },
              required: ["name"],
            },
            tags: { type: "array", title: "Tags", items: { enum: ["a", "b"] } },
          },
          required: ["orders"],
        },
      });
    });
    const read = (): Promise<unknown> =>
      form.evaluate((element) => (element as unknown as { read(): unknown }).read() ?? null);
    expect(await read()).toBe(null);
    await form.getByText("Orders must have at least 1 items.").waitFor();
    await form.getByRole("button", { name: "Add to Orders" }).click();
    await form.getByRole("button", { name: "Add to Orders" }).click();
    expect(await read()).toBe(null);
    expect(await form.getByRole("alert").count()).toBe(2);
    await form.getByRole("textbox", { name: /^SKU/ }).first().fill("x-1");
    await form.getByRole("button", { name: "Remove Orders 2" }).click();
    await form.getByRole("textbox", { name: "count" }).fill("3");
    await form.getByRole("combobox", { name: "Which" }).selectOption({ label: "kind: circle" });
    await form.getByRole("textbox", { name: /^radius/ }).fill("1.5");
    await form.getByRole("checkbox", { name: "b" }).check();
    const args = { orders: [{ sku: "x-1", count: 3 }], shape: { kind: "circle", radius: 1.5 }, tags: ["b"] };
    expect(await read()).toEqual(args);

    await form.getByRole("button", { name: "JSON" }).click();
    const text = form.getByRole("textbox", { name: "Arguments as JSON" });
    expect(JSON.parse(await text.inputValue())).toEqual(args);
    await text.fill("{");
    await form.getByRole("button", { name: "JSON" }).click();
    await form.getByText("This is not JSON").waitFor();
    await text.fill(JSON.stringify({ ...args, shape: { kind: "point" }, more: [1] }));
    await form.getByRole("button", { name: "JSON" }).click();
    expect(await read()).toEqual({ ...args, shape: { kind: "point" }, more: [1] });
  });

  test("nothing of it is complained of, but for the server that was gone", () => {
    expect(seen.complaints.filter((line) => !/ERR_|Failed to load|404|400/.test(line))).toEqual([]);
  });
});
