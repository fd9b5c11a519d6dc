/**
 * One suite for every way in to a source's tools: REST, chat, and MCP in both eras, reduced and raw. `TABLE=1` prints what held.
 */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localWorkspaces } from "../../../../web/src/files/local-workspaces.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import type { SluiceServerOptions } from "../../../../web/src/serve.js";
import { showFile, whyNoSandbox } from "../../files/sandboxes.js";
import { modelOf } from "../chat/chatting.js";
import { calledOnce, posted, program, served, visitor } from "../sources/serving.js";
import type { Visitor } from "../visitor.js";
import { mcpClient, type Era } from "./mcp-client.js";
import { addressesWith, type Guard, GUARDS, REGISTER } from "./register.js";

const noSandbox = await whyNoSandbox();

const LAB = fileURLToPath(new URL("../../files/lab-server.mjs", import.meta.url));

type Args = Readonly<Record<string, unknown>>;

/** A way to a source's tools. */
interface Way {
  /** The address that it goes to. */
  readonly address: string;
  /** Calls a tool of the source `lab`; gives all that is answered, which a model or a page sees. */
  readonly call: (by: Visitor, tool: string, args?: Args) => Promise<string>;
  /** Lists the tools of the source, as the way does. */
  readonly list: (by: Visitor) => Promise<string>;
  /** Whether it gives bytes as the source sent them. */
  readonly isRaw?: boolean;
}

async function listTools(by: Visitor): Promise<string> {
  return (await by.ask("/tools")).text();
}

function mcpWay(way: "mcp" | "raw", era: Era): Way {
  return {
    address: `POST /${way}/{source}`,
    call: async (by, tool, args) => (await mcpClient(by, way, era)).call("lab", tool, args),
    list: async (by) => (await mcpClient(by, way, era)).ask("lab", "tools/list"),
    isRaw: way === "raw",
  };
}

const WAYS: Readonly<Record<string, Way>> = {
  "REST, as events": {
    address: "POST /tools/{name}",
    call: async (by, tool, args = {}) => (await by.ask(`/tools/lab.${tool}`, posted({ args }))).text(),
    list: listTools,
  },
  "REST, as JSON": {
    address: "POST /tools/{name}",
    call: async (by, tool, args = {}) => (await calledOnce(by, `lab.${tool}`, args)).text(),
    list: listTools,
  },
  chat: {
    address: "POST /chat",
    call: async (by, tool, args = {}) =>
      (await by.ask("/chat", posted({ query: JSON.stringify({ tool, args }) }))).text(),
    list: async (by) => (await by.ask("/chat", posted({ query: "Which tools are there?" }))).text(),
  },
  "MCP 2025": mcpWay("mcp", "2025"),
  "MCP 2026": mcpWay("mcp", "2026"),
  "MCP 2025, raw": mcpWay("raw", "2025"),
  "MCP 2026, raw": mcpWay("raw", "2026"),
};

const WAY_ENTRIES = Object.entries(WAYS);

/** Calls what the query says, or names the tools that it is offered. */
const model = modelOf(({ messages, tools }) => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  if (results.length > 0) return { text: `They said ${results.join(" ")}.` };
  const query = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const [asked] = /\{"tool".*\}/.exec(query) ?? [];
  if (asked === undefined) return { text: tools.map((name) => `"${name.replace(/^lab_/, "")}"`).join(" ") };
  const { tool, args } = JSON.parse(asked) as { tool: string; args: Args };
  return { calls: [{ name: `lab_${tool}`, args }] };
});

interface Opened {
  readonly ada: Visitor;
  readonly bob: Visitor;
  /** The folder that has a folder for each user. */
  readonly root: string;
}

interface OpenOptions {
  /** Whether programs run in a sandbox. Default: false. */
  readonly sandbox?: boolean;
  readonly toolFilter?: readonly string[];
  readonly server?: Partial<SluiceServerOptions>;
}

/** A server with a source whose tools work with users' files, for ada and bob; `onEnd` takes what closes it. */
async function openServer(
  { sandbox = false, toolFilter, server = {} }: OpenOptions,
  onEnd: (end: () => Promise<void>) => void,
): Promise<Opened> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sluice-ways-")));
  onEnd(() => rm(root, { recursive: true, force: true }));
  const lab = program("lab", `"${process.execPath}" "${await showFile(LAB, onEnd)}"`, {
    user_files: true,
    ...(!sandbox && { env: { LAB_ROOT: root } }),
    ...(toolFilter !== undefined && { tool_filter: [...toolFilter] }),
  });
  const serving = served(
    {
      sources: [lab],
      filesStore: new MemoryArtifactStore(),
      files: localWorkspaces({ root, sandbox }),
      llm: model,
      ...server,
    },
    onEnd,
  );
  return { root, ada: await visitor(serving, "ada"), bob: await visitor(serving, "bob") };
}

/** One server for all tests of a `describe`, since each starts programs. */
function shareServer(options: OpenOptions = {}): () => Opened {
  const ends: (() => Promise<void>)[] = [];
  let opened: Opened;
  beforeAll(async () => {
    opened = await openServer(options, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => opened;
}

/** The bytes of the tool `table`, as its source sends them. */
const TABLE = Buffer.from(
  `id,name\n${Array.from({ length: 12_000 }, (_, row) => `${row},n${row}\n`).join("")}`,
).toString("base64");

/** What held, by way and guard. */
const held = new Map<string, Set<Guard>>();
const note = (way: string, guard: Guard): void => void held.set(way, (held.get(way) ?? new Set()).add(guard));

test("every address of a server is in the register, with what guards it", async () => {
  const { server } = served({ sources: [program("lab")], filesStore: new MemoryArtifactStore(), llm: model });
  const answer = await server.fetch(new Request("http://127.0.0.1/openapi.json"));
  const { paths } = (await answer.json()) as { readonly paths: Readonly<Record<string, object>> };
  const declared = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(declared.toSorted()).toEqual(Object.keys(REGISTER).toSorted());
  const driven = new Set(["GET /tools", ...Object.values(WAYS).map(({ address }) => address)]);
  expect([...driven].toSorted()).toEqual(addressesWith("guards").toSorted());
});

describe("a user alone", () => {
  const open = shareServer();

  test.each(WAY_ENTRIES)("isolation: a tool is told the user who is signed in, by %s", async (name, { call }) => {
    const told = await call(open().ada, "echo", { username: "bob", note: "n" });
    expect(told).toContain("ada");
    expect(told.replaceAll(/query|"username\\*":\\*"bob/g, "")).not.toMatch(/username\W+bob/);
    note(name, "isolation");
  });

  test.each(WAY_ENTRIES)("isolation: a file is read by its name, another user's by no path: %s", async (name, way) => {
    const { ada, bob, root } = open();
    const content = "x".repeat(4321);
    const hers = `${name}.txt`;
    expect((await bob.ask(`/files?filename=${hers}`, { method: "POST", body: content })).status).toBe(201);
    expect(await way.call(bob, "length", { filename: hers })).toContain("4321");
    await mkdir(join(root, "bob"), { recursive: true });
    await writeFile(join(root, "bob", "secret.txt"), content);
    for (const filename of [hers, join(root, "bob", "secret.txt"), "../bob/secret.txt"]) {
      expect(await way.call(ada, "length", { filename, username: "bob" })).not.toContain("4321");
    }
    await way.call(ada, "write", { username: "bob", name: "planted.txt", content: "x" });
    await expect(readFile(join(root, "bob", "planted.txt"))).rejects.toThrow("ENOENT");
  });

  test.each(WAY_ENTRIES)("gate: bytes are stored, and the answer is a reference: %s", async (name, way) => {
    const { ada } = open();
    const { isRaw = false } = way;
    // The same bytes are stored once: those of the way before go first.
    for (const { id } of (await ada.list("?trace=*")).artifacts)
      await ada.ask(`/artifacts/${id}`, { method: "DELETE" });
    const told = await way.call(ada, "table");
    const { artifacts } = await ada.list("?trace=*");
    // MCP clients restore a result by the list of its references, which is stored beside it.
    const types = artifacts
      .map(({ mime_type }) => mime_type)
      .filter((type) => type !== "application/vnd.sluice.refs+json");
    // The raw way is for a page that has the gate itself: it leaves nothing behind.
    expect(types).toEqual(isRaw ? [] : ["text/csv"]);
    expect(told.includes(TABLE)).toBe(isRaw);
    expect(/\blab_[0-9a-f]{12}/.test(told)).toBe(!isRaw);
    expect(told.length).toBeLessThan(isRaw ? 2 * TABLE.length : 4000);
    note(name, "gate");
  });

  test("the raw way is for the page's own session, and not for who comes with a token", async () => {
    const { ada } = open();
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const answer = await ada.ask("/raw/lab", init);
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("connect to mcp/{source}")]);
    expect((await ada.askAsPage("/raw/nothing", init)).status).toBe(404);
  });
});

describe("a source with chosen tools", () => {
  const open = shareServer({ toolFilter: ["table", "bytes"] });

  test.each(WAY_ENTRIES)("filter: only these are listed, and called: %s", async (name, { call, list }) => {
    const { ada } = open();
    expect(await list(ada)).not.toMatch(/"(?:lab\.)?echo\\?"/);
    expect(await list(ada)).toMatch(/"(?:lab\.)?bytes\\?"/);
    expect(await call(ada, "echo", { note: "over the fence" })).not.toMatch(/"results\W+args/);
    note(name, "filter");
  });
});

describe.skipIf(noSandbox !== undefined)("programs in a sandbox", () => {
  const open = shareServer({ sandbox: true });

  test.each(WAY_ENTRIES)("sandbox: one sees and writes nothing but the user's folder: %s", async (name, { call }) => {
    const { ada, root } = open();
    const outside = join(root, "outside.txt");
    await writeFile(outside, "secret 4321");
    expect(await call(ada, "try_to_read", { path: outside })).toContain("ENOENT");
    expect(await call(ada, "overwrite", { path: outside })).not.toMatch(/came\W+written/);
    expect(await readFile(outside, "utf8")).toBe("secret 4321");
    note(name, "sandbox");
  });
});

describe("users with a limit", () => {
  const open = shareServer({ server: { userLimits: { artifactBytes: 10 } } });

  test.each(WAY_ENTRIES)("limits: a user's calls end at the user's limit: %s", async (name, { call }) => {
    const { ada, bob } = open();
    expect(await call(ada, "table")).toMatch(/0 of 10 bytes of artifacts/);
    expect((await ada.list()).artifacts).toEqual([]);
    expect(await call(bob, "echo", { note: "n" })).toContain("bob");
    note(name, "limits");
  });
});

afterAll(() => {
  if (process.env["TABLE"] === undefined) return;
  const row = (way: string): string =>
    `| ${way} | ${GUARDS.map((guard) => (held.get(way)?.has(guard) === true ? "yes" : "no")).join(" | ")} |`;
  const head = `| way in | ${GUARDS.join(" | ")} |\n|---|${GUARDS.map(() => "---|").join("")}`;
  console.log(`${head}\n${Object.keys(WAYS).map(row).join("\n")}`);
});
