/** The examples, run where the package is installed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page, Route } from "playwright-core";
import { build, preview } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { launchChromium, recordComplaints } from "../support/chromium.js";
import { ROOT } from "./run.js";
import { projectOf, served, type Site, siteOf } from "./sites.js";

/** What examples need beside the package and what comes with it: those of the checkout. */
const OTHERS = ["@modelcontextprotocol/server", "oidc-provider", "react", "react-dom"];

/** A copy of the examples, until it is disposed of. */
class Examples implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async copied(): Promise<Examples> {
    const folder = await mkdtemp(join(inject("app"), "examples-"));
    // Their tsconfig.json extends the checkout's, and is not for those who copy them.
    await cp(join(ROOT, "examples"), folder, { recursive: true, filter: (path) => !path.endsWith("tsconfig.json") });
    for (const name of OTHERS) {
      const link = join(folder, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(await realpath(join(ROOT, "node_modules", name)), link);
    }
    return new Examples(folder);
  }

  /** Starts a program for the test around, with the one PATH that the package's users are sure to have. */
  start(program: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
    const started = new Started(
      spawn("node", [join(this.folder, program), ...args], {
        cwd: this.folder,
        env: { PATH: inject("path"), HOME: this.folder, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    onTestFinished(() => started.kill());
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A program that runs. */
class Started {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #text = "";
  #onText: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, "close");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (piece: string) => {
        this.#text += piece;
        this.#onText();
      });
    }
  }

  /** What it printed so far. */
  get text(): string {
    return this.#text;
  }

  /** Waits until it has printed what is looked for, and gives that. Fails where it ends before. */
  async printed(pattern: RegExp): Promise<string> {
    const found = new Promise<string>((resolve) => {
      this.#onText = () => {
        const [match] = pattern.exec(this.#text) ?? [];
        if (match !== undefined) resolve(match);
      };
      this.#onText();
    });
    const ended = this.#ended.then(() => {
      throw new Error(`It ended:\n${this.#text}`);
    });
    return Promise.race([found, ended]);
  }

  /** All that it printed, once it has ended by itself. */
  async whole(): Promise<string> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`It failed:\n${this.#text}`);
    return this.#text;
  }

  /** As Ctrl-C does. */
  async interrupt(): Promise<void> {
    this.#child.kill("SIGINT");
    await this.#ended;
  }

  /** Ends it, if it has not ended yet. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}

let examples: Examples;
beforeAll(async () => {
  examples = await Examples.copied();
});
afterAll(() => examples[Symbol.asyncDispose]());

test("an agent with three kinds of tools: files are stored, and the model sees sentences", async () => {
  const artifacts = join(examples.folder, "artifacts");
  const agent = examples.start("multi-tool-agent/agent.mjs", [], { ARTIFACTS: artifacts });
  const text = await agent.whole();
  expect(text).toMatch(/archive\.readings stored archive_[0-9a-f]{12} \(text\/csv, 185\.5 KB\)/);
  expect(text).toMatch(/camera\.photo stored camera_[0-9a-f]{12} \(image\/bmp, 225\.1 KB\)/);
  expect(text).toContain("The warmest day was 2025-07-18, with 26.6 °C.");
  const [, stored, seen] = /stored: (\d+) bytes; seen by the model: (\d+) characters/.exec(text) ?? [];
  expect(Number(stored)).toBeGreaterThan(400_000);
  expect(Number(seen)).toBeLessThan(1_500);
  expect(await readdir(artifacts)).not.toEqual([]);
});

describe("an agent that asks before it looks", () => {
  test("loses nothing when it is ended while it waits: what was done is not done again", async () => {
    const first = calendarAgent("interrupted", "0,0");
    const asked = await address(first);
    await first.interrupt();
    const ports = [new URL(asked.searchParams.get("redirect_uri") ?? ""), asked].map(({ port }) => port);
    const second = calendarAgent("interrupted", ports.join(","));
    await address(second);
    // What was asked in the process that is gone is answered in this one.
    await (await personOf(examples)).consent(asked.href, { login: "ada" });
    const text = await second.whole();
    expect(text).toContain("A run waits from before.");
    expect(text).toContain("It is 2025-07-18, and you have a talk about locks at ten and lunch with Charles.");
    expect([first.text, text].map((each) => each.includes("clock: asked"))).toEqual([true, false]);
  });

  test("answers without the calendar where they decline, and begins anew where its note is only half written", async () => {
    await mkdir(join(examples.folder, "declines"));
    await writeFile(join(examples.folder, "declines/waiting.json"), '{"kind":"pause","resumeTo');
    const started = calendarAgent("declines", "0,0");
    const { origin, searchParams } = await address(started);
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    const state = searchParams.get("state") ?? "";
    back.search = new URLSearchParams({ error: "access_denied", state, iss: origin }).toString();
    expect(await (await fetch(back)).text()).toBe("No access was given.");
    expect(await started.whole()).toContain("I may not see your calendar");
  });
});

test("a chat in a page, as Vite builds it: cards, a preview, a streamed answer, and a policy that nothing runs into", async () => {
  const root = join(examples.folder, "web-frontend");
  const policy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:";
  await build({ ...projectOf(root, policy), build: { chunkSizeWarningLimit: 10_000 } });
  const site = await served(root, policy);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const complaints = recordComplaints(page, { isStrict: true });
    await page.goto(site.url);
    const question = "How did we sell, and what was it?";
    await page.getByRole("textbox", { name: "Question" }).fill(question);
    await page.getByRole("button", { name: "Ask" }).click();
    const log = page.getByRole("log", { name: "Conversation" });
    await log.getByText("We sold something every day: most of it chairs, and lamps.").waitFor();
    await log.getByText(question).waitFor();
    await log.getByRole("article", { name: "orders.csv" }).waitFor();
    await log.getByRole("article", { name: "chart.png" }).getByRole("button", { name: "Preview" }).click();
    await page.locator("sluice-viewer").getByText("730 × 200 pixels").waitFor();
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await site.close();
  }
});

describe("a chat in React that asks for consent", () => {
  const question = "What do I have to do today?";
  let site: Site;
  let browser: Browser;
  let chat: Chat;

  beforeAll(async () => {
    const root = join(examples.folder, "web-frontend/react");
    const project = { configFile: join(root, "vite.config.ts"), logLevel: "error" } as const;
    // Vitest's own NODE_ENV would bundle the React of development, which prints advice.
    vi.stubEnv("NODE_ENV", "production");
    await build({ ...project, build: { chunkSizeWarningLimit: 10_000 } });
    vi.unstubAllEnvs();
    site = siteOf(await preview({ ...project, preview: { port: 0 } }));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });
  beforeEach(async () => {
    chat = await Chat.opened(browser, site.url);
    await chat.ask(question);
  });
  afterEach(() => chat.close());

  test("goes on by itself once they agreed, shows the file, and keeps the token from the page", async () => {
    const { page, log } = chat;
    await log.getByRole("region", { name: "May this chat use Example Calendar?" }).waitFor();
    await log.getByText("read what is in your calendar").waitFor();
    await chat.agree("Continue at Example Calendar");
    await log.getByText("Today you have a talk about locks at ten and lunch with Charles.").waitFor();
    await log.getByText("You gave the chat access to Example Calendar.").waitFor();
    await log.getByRole("article", { name: "year.csv" }).getByRole("button", { name: "Preview" }).click();
    await page.locator("sluice-viewer").getByRole("cell", { name: "a talk about locks" }).first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator("sluice-viewer").waitFor({ state: "detached" });

    const { token, held } = await chat.heldInPage();
    expect(token.length).toBeGreaterThan(20);
    // What is in the page, in its elements, and only in its database.
    const found = [question, "More actions for year.csv", "2025-01-03,10:00,a talk about locks", token].map((text) =>
      held.includes(text),
    );
    expect(found).toEqual([true, true, true, false]);

    // Who agreed once is not asked again.
    await chat.ask(question);
    await expect.poll(() => log.getByText("The rest of the year is in the file.").count()).toBe(2);
    expect(chat.complaints).toEqual([]);
  });

  test("says in a sentence what did not come of it, and what can be done about it", async () => {
    const { page, log } = chat;
    await log.getByRole("button", { name: "Not now" }).click();
    await log.getByText("The chat got no access to Example Calendar.").waitFor();
    await log.getByText("I cannot see your calendar").waitFor();

    await log.getByRole("button", { name: "Ask me again" }).click();
    await (await chat.signInBy("Continue at Example Calendar")).close();
    await log.getByText("The window was closed before you agreed.").waitFor();

    // Somebody else's provider is not the one that was asked.
    const window = await chat.signInBy("Open it again");
    const state = new URL(chat.asked).searchParams.get("state") ?? "";
    const back = new URLSearchParams({ state, code: "x", iss: "http://127.0.0.1:1" });
    // It closes before it has loaded.
    await window.evaluate((url) => location.assign(url), `${site.url}callback.html?${back}`).catch(() => undefined);
    await log.getByText("The sign-in at Example Calendar failed.").waitFor();

    const declined = await chat.signInBy("Try again");
    await declined.getByRole("link", { name: "Cancel" }).click();
    await expect.poll(() => log.getByText("The chat got no access to Example Calendar.").count()).toBe(2);
    await page.getByRole("textbox", { name: "Question" }).waitFor();
    expect(chat.complaints).toEqual([]);
  });
});

/** The chat in a browser of its own, and the person before it. */
class Chat {
  /** What the console said, and what was thrown. */
  readonly complaints: readonly string[];
  readonly log: Locator;
  /** What a provider was asked last. */
  asked = "";
  #token = "";

  private constructor(readonly page: Page) {
    this.log = page.getByRole("log", { name: "Conversation" });
    this.complaints = recordComplaints(page, { isStrict: true });
    page.context().on("request", (request) => {
      if (request.url().includes("/auth?")) this.asked = request.url();
    });
  }

  static async opened(browser: Browser, url: string): Promise<Chat> {
    const context = await browser.newContext();
    const chat = new Chat(await context.newPage());
    await chat.page.route("**/token", (route) => chat.#readToken(route));
    await chat.page.goto(url);
    return chat;
  }

  /** Reads the answer on its way, since Chromium may forget a body once the page has read it. */
  async #readToken(route: Route): Promise<void> {
    const response = await route.fetch();
    if (route.request().method() === "POST") {
      const { access_token } = (await response.json()) as { access_token: string };
      this.#token = access_token;
    }
    await route.fulfill({ response });
  }

  async ask(question: string): Promise<void> {
    await this.page.getByRole("textbox", { name: "Question" }).fill(question);
    await this.page.getByRole("button", { name: "Ask", exact: true }).click();
  }

  /** Presses what opens the provider's window, and gives that. */
  async signInBy(button: string): Promise<Page> {
    const opened = this.page.waitForEvent("popup");
    await this.log.getByRole("button", { name: button }).click();
    const window = await opened;
    await window.getByRole("textbox").first().waitFor();
    return window;
  }

  /** Signs in and agrees. */
  async agree(button: string): Promise<void> {
    const window = await this.signInBy(button);
    const closed = window.waitForEvent("close");
    await window.getByRole("textbox").first().fill("ada");
    await window.getByPlaceholder(/password/i).fill("any");
    await window.getByRole("button").click();
    await window.getByRole("button", { name: "Continue" }).click();
    await closed;
  }

  /** The token that the provider gave, and all that the page shows, keeps and printed. */
  async heldInPage(): Promise<{ readonly token: string; readonly held: string }> {
    const kept = await this.page.evaluate(async () => {
      const databases = await indexedDB.databases();
      const rows = databases.map(async ({ name = "" }) => {
        const database = await new Promise<IDBDatabase>((resolve, reject) => {
          const opening = indexedDB.open(name);
          opening.addEventListener("success", () => resolve(opening.result));
          opening.addEventListener("error", () => reject(new Error(name)));
        });
        const stores = Array.from(database.objectStoreNames, async (store) => {
          const reading = database.transaction(store).objectStore(store).getAll();
          await new Promise((resolve) => reading.addEventListener("success", resolve));
          // What was stored of files is bytes.
          return JSON.stringify(reading.result, (_, value: unknown) =>
            value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
          );
        });
        return (await Promise.all(stores)).join();
      });
      const places = [localStorage, sessionStorage, history.state, location.href, document.cookie];
      return JSON.stringify(places) + (await Promise.all(rows)).join();
    });
    // The one without what is in the elements, the other without attributes.
    const shown = [await this.page.content(), await this.page.locator("body").ariaSnapshot()];
    return { token: this.#token, held: [...shown, kept, ...this.complaints].join("\n") };
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** With a state of its own, waiting for a person. */
function calendarAgent(state: string, ports: string): Started {
  const env = { STATE: join(examples.folder, state), PORTS: ports };
  return examples.start("agent-with-oauth/agent.mjs", ["--by-hand"], env);
}

/** The one that plays the person, for those who do not want to be it. */
async function personOf({ folder }: Examples): Promise<{
  consent(address: string, person: { readonly login: string }): Promise<void>;
}> {
  return (await import(pathToFileURL(join(folder, "agent-with-oauth/person.mjs")).href)) as Awaited<
    ReturnType<typeof personOf>
  >;
}

/** Where the person is sent to. */
async function address(started: Started): Promise<URL> {
  return new URL(await started.printed(/http:\S+\/auth\?\S+(?=\s)/));
}
