/** The installed `mcp-sluice/tools` in real Chromium, on a page and in a worker, as Vite builds it, under a policy. */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { request as requestTo, type RequestListener } from "node:http";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { build, createServer } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium, recordComplaints } from "../support/chromium.js";
import { bytesOf } from "../e2e/fixture/bytes.mjs";
import { serveFixture } from "../e2e/serving.js";
import { ROOT } from "./run.js";
import { projectOf, served, type Site, siteOf } from "./sites.js";
import { type Accounts, agree, logIn, serveAccounts } from "./tools/accounts.js";
import { NOISE, serveApi, TOKEN } from "./tools/api.js";
import { DOCUMENTED, type Elsewhere, forPages, listen, OF_EARLIER_ERA } from "./tools/elsewhere.js";
import { REPORT } from "./tools/mcp-server.js";
import { type McpServing, serveEvents, serveMcp } from "./tools/mcp-serving.js";

/** Where the app answers. */
const PLACES = ["page", "worker"] as const;
type Place = (typeof PLACES)[number];

/** The app, opened by a new user. */
interface Visit extends AsyncDisposable {
  readonly context: BrowserContext;
  /** What the console said. */
  readonly complaints: readonly string[];
  /** Asks one of the questions of `app/tools/answers.js`. */
  ask(place: Place, question: string, terms?: object): Promise<unknown>;
}

/** Opens the app, and waits until it can be asked. */
async function visited(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  // The provider's pages have fonts from elsewhere.
  await context.route(
    ({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname),
    (route) => route.abort(),
  );
  const page = await context.newPage();
  const complaints = recordComplaints(page, { isStrict: true });
  await page.goto(url);
  await page.locator("output:not(:empty)").waitFor();
  return {
    context,
    complaints,
    ask: (place, question, terms = {}) => asked(page, [place, question, terms]),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

interface App {
  ask(...asking: readonly unknown[]): Promise<unknown>;
}

function asked(page: Page, asking: readonly unknown[]): Promise<unknown> {
  return page.evaluate((all) => (globalThis as unknown as App).ask(...all), asking);
}

/** A server of the later era. */
interface ModernServing extends Elsewhere {
  readonly url: string;
  /** What calls were of that ended before they were answered: names of tools. */
  readonly givenUp: readonly unknown[];
}

/** Starts the fixture, and stands in front of it with what pages need: a tool of it has an argument in a header. */
async function serveModern(): Promise<ModernServing> {
  const fixture = await serveFixture();
  const givenUp: unknown[] = [];
  const cors = { ...DOCUMENTED, allows: `${DOCUMENTED.allows}, Mcp-Param-Region` };
  const answer = forPages(through(fixture.url, givenUp), cors);
  const page = await listen(() => answer);
  return {
    ...page,
    url: `${page.origin}/mcp`,
    givenUp,
    async [Symbol.asyncDispose]() {
      await page[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

function through(to: string, givenUp: unknown[]): RequestListener {
  return (request, response) => {
    const { host: _host, ...headers } = request.headers;
    const further = requestTo(to, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    further.once("error", () => response.destroy());
    response.once("close", () => {
      if (!response.writableFinished && headers["mcp-method"] === "tools/call") givenUp.push(headers["mcp-name"]);
      further.destroy();
    });
    request.pipe(further);
  };
}

const root = join(inject("app"), "tools");

/** Zod looks once whether it may make code, and makes none where it may not. */
const PROBE = ["script-src eval"];

let browser: Browser;
let servers: Readonly<Record<"http" | "strict" | "hidden" | "events" | "users", McpServing>> & {
  readonly modern: ModernServing;
  readonly api: Elsewhere;
};
let forbidden: Elsewhere;
let accounts: Accounts;
let policy: string;
let site: Site;
let visit: Visit;

const open = (url = site.url): Promise<Visit> => visited(browser, url);

/** Ended behind the last test, the last first; also where not all of them were started. */
const ends: (() => Promise<unknown>)[] = [];
const ending = <T extends AsyncDisposable>(started: T): T => {
  ends.unshift(async () => started[Symbol.asyncDispose]());
  return started;
};

beforeAll(async () => {
  browser = await launchChromium();
  ends.unshift(() => browser.close());
  accounts = ending(await serveAccounts());
  servers = {
    http: ending(await serveMcp()),
    strict: ending(await serveMcp({ cors: OF_EARLIER_ERA })),
    hidden: ending(await serveMcp({ cors: { ...DOCUMENTED, exposes: "Retry-After" } })),
    events: ending(await serveEvents()),
    modern: ending(await serveModern()),
    users: ending(await serveMcp({ owner: (token) => accounts.owner(token), issuer: () => accounts.origin })),
    api: ending(await serveApi()),
  };
  forbidden = ending(await serveApi());
  const origins = [...Object.values(servers), accounts].map(({ origin }) => origin).join(" ");
  policy = `default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ${origins}; img-src data:`;
  ends.unshift(() => rm(join(root, "dist"), { recursive: true, force: true }));
  await build({
    ...projectOf(root, policy),
    build: { rolldownOptions: { input: [join(root, "index.html"), join(root, "callback.html")] } },
  });
  site = await served(root, policy);
  ends.unshift(() => site.close());
  await accounts.open(`${site.url}callback.html`);
  visit = ending(await open());
}, 120_000);

afterAll(async () => {
  for (const end of ends) await end();
});

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const bytesOfReport = [{ mime_type: "application/pdf", filename: "report.pdf", sha256: sha256(REPORT) }];
const bytesOfNoise = [{ mime_type: "application/octet-stream", filename: "noise of today.bin", sha256: sha256(NOISE) }];

const CALLED = {
  tools: expect.arrayContaining(["far.report", "far.wait", "far.resources_read"]),
  progress: [
    [1, 2],
    [2, 2],
  ],
  isShort: true,
  isError: false,
  value: expect.objectContaining({ structured: { pages: 3 } }),
  stored: bytesOfReport,
};

describe.each(PLACES)("in a %s", (place) => {
  const ask = (question: string, terms?: object): Promise<unknown> => visit.ask(place, question, terms);

  test("an MCP server over HTTP: tools, progress, and a PDF in the store", async () => {
    expect(await ask("call", { url: servers.http.url })).toEqual(CALLED);
    // Closing ends the session at the server.
    expect(servers.http.sessions.size).toBe(0);
  });

  test("one that lets pages send none of the headers of the later era", async () => {
    expect(await ask("call", { url: servers.strict.url })).toEqual(CALLED);
  });

  test("one that does not let pages read its session is refused by itself", async () => {
    const config = { transport: "mcp", connection: servers.hidden.url };
    expect(await ask("connect", { config })).toMatchObject({ code: "E_TOOL_CLIENT", status: 400 });
  });

  test("one of 2024, over server-sent events", async () => {
    expect(await ask("call", { url: servers.events.url })).toEqual(CALLED);
    await expect.poll(() => servers.events.sessions.size).toBe(0);
  });

  test("one of the later era: progress, a subscription, and a call that is given up", async () => {
    const before = servers.modern.givenUp.length;
    expect(await ask("modern", { url: servers.modern.url })).toEqual({
      progress: CALLED.progress,
      event: ["updated", "test://watched-resource"],
      thrown: "no longer wanted",
      isShort: true,
      isError: false,
      value: expect.anything(),
      stored: [{ mime_type: "application/pdf", filename: "file.pdf", sha256: sha256(bytesOf("pdf", 200_000)) }],
    });
    await expect.poll(() => servers.modern.givenUp.slice(before)).toEqual(["slow"]);
  });

  test.each(["http", "events"] as const)("a call that is given up ends at the server, too: %s", async (way) => {
    const reason = "no longer wanted";
    expect(await ask("giveUp", { url: servers[way].url })).toEqual({ thrown: reason, atServer: reason });
  });

  test.each(["http", "events"] as const)("what a server asks a person and a model is answered: %s", async (way) => {
    const answered = (await ask("questions", { url: servers[way].url })) as Record<"asked" | "text", unknown>;
    expect(answered.asked).toEqual(["Which year?", "How was it?"]);
    expect(answered.text).toContain("2026");
    expect(answered.text).toContain("Good.");
  });

  test("resources: listed, read, and told of when they change", async () => {
    const { url, world } = servers.http;
    world.note = `before, in a ${place}`;
    const note = `after, in a ${place}`;
    expect(await ask("resources", { url, note })).toEqual({
      uris: ["note:///today", "file:///report.pdf"],
      texts: [`before, in a ${place}`, note],
      event: ["updated", "note:///today"],
      kind: "artifact",
      sha256: sha256(REPORT),
    });
  });

  test("an API by its OpenAPI description: every byte of a file, and the name that the server gives it", async () => {
    expect(await ask("file", { url: servers.api.origin })).toEqual({
      tools: expect.arrayContaining(["far.get_file", "far.echo", "far.me", "far.busy"]),
      isShort: true,
      isError: false,
      value: expect.anything(),
      stored: bytesOfNoise,
      echo: { größe: 1 },
    });
  });

  test("an API by its UTCP manual", async () => {
    expect(await ask("manual", { url: servers.api.origin })).toEqual({
      isShort: true,
      isError: false,
      value: expect.anything(),
      stored: bytesOfNoise,
      lines: [{ n: 1 }, { n: 2 }],
    });
  });

  test("a file that has moved is followed, but not by who asks: a browser does not tell where to", async () => {
    const url = servers.api.origin;
    expect(await ask("moved", { url })).toEqual(bytesOfNoise);
    const auth = { auth_type: "bearer", auth_config: { token: TOKEN } };
    expect(await ask("moved", { url, auth })).toMatchObject({
      code: "E_TOOL",
      message: expect.stringContaining("redirects to an address that the browser does not reveal"),
    });
  });

  test("an API that wants to be left alone is, for as long as it says", async () => {
    expect(await ask("busy", { url: servers.api.origin })).toEqual({
      value: { isBusy: false },
      kind: "retry",
      waits: true,
      retryAfterSeconds: 1,
    });
  });

  test("variables are what the host gives; one that it does not give is named", async () => {
    const API = servers.api.origin;
    expect(await ask("variables", { values: { API, API_TOKEN: TOKEN } })).toEqual({ isKnown: true });
    expect(await ask("variables", { values: { API } })).toMatchObject({
      code: "E_TOOL_AUTH",
      message: expect.stringContaining("needs the variable API_TOKEN"),
    });
  });

  test.each([
    { transport: "mcp", connection: "npx server" },
    { transport: "cli", connection: "git" },
  ])("what is a program is refused, and the entry named that starts it: $transport", async (config) => {
    expect(await ask("connect", { config })).toMatchObject({
      name: "ToolNodeError",
      code: "E_TOOL_UNSUPPORTED",
      message: expect.stringContaining("a program, which can only be started in Node"),
    });
  });

  test("a person consents in a window: for a provider that is configured, then for one that a server tells of", async () => {
    await using own = await open();
    const redirect_uri = `${site.url}callback.html`;
    const terms = { url: servers.users.url, issuer: accounts.origin, redirect_uri, user: "ada" };
    const consented = { asked: ["far"], value: "ada@example" };

    const first = own.context.waitForEvent("page");
    const configured = own.ask(place, "consent", terms);
    await logIn(await first, "ada@example");
    await agree(await first);
    expect(await configured).toEqual(consented);

    // The provider knows the person by now, and not yet the client.
    const second = own.context.waitForEvent("page");
    const toldOf = own.ask(place, "consentWhileCalling", terms);
    await agree(await second);
    expect(await toldOf).toEqual(consented);
    expect(await own.ask(place, "violations")).toEqual(PROBE);
  });

  test("where the policy allows no connection, that is an error of the connection", async () => {
    await using own = await open();
    const retry_policy = { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };
    const config = { transport: "http", connection: `${forbidden.origin}/openapi.json`, retry_policy };
    expect(await own.ask(place, "connect", { config })).toMatchObject({
      code: "E_TOOL_CONNECTION",
      category: "network",
    });
    const violations = (await own.ask(place, "violations")) as readonly string[];
    // As often as it was tried.
    expect([...new Set(violations)]).toEqual([...PROBE, `connect-src ${forbidden.origin}/openapi.json`]);
  });

  test("nothing of all this makes code: the policy forbade no more than a probe", async () => {
    expect(await ask("call", { url: servers.http.url })).toEqual(CALLED);
    expect(await ask("violations")).toEqual(PROBE);
  });
});

test("an argument that a header says again: in workers, since the MCP client leaves such headers out on pages", async () => {
  const { url } = servers.modern;
  expect(await visit.ask("worker", "inHeader", { url })).toBe("region Österreich");
  expect(await visit.ask("page", "inHeader", { url })).toMatchObject({ code: "E_TOOL_CLIENT" });
});

test("served by Vite while one develops, it works as well", async () => {
  const server = await createServer({ ...projectOf(root, policy), cacheDir: join(root, ".vite") });
  await server.listen();
  try {
    await using own = await open(siteOf(server).url);
    for (const place of PLACES) {
      expect(await own.ask(place, "call", { url: servers.http.url })).toEqual(CALLED);
      expect(await own.ask(place, "violations")).toEqual(PROBE);
    }
  } finally {
    await server.close();
  }
});

test("the documentation names every header that these servers let pages send and read", async () => {
  const page = await readFile(join(ROOT, "docs/tools.md"), "utf8");
  const [section = ""] = /^## In a browser\n[\s\S]*?(?=^## )/m.exec(page) ?? [];
  for (const name of [DOCUMENTED.allows, DOCUMENTED.exposes].join(", ").split(", ")) expect(section).toContain(name);
});

test("nothing is said on the console but what the browser says of answers that are none", () => {
  const known = /^error: (Failed to load resource|Access to fetch at .* has been blocked by CORS policy)/;
  expect(visit.complaints.filter((line) => !known.test(line))).toEqual([]);
});
