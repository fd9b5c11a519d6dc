/** Every address that stores, starts or asks something is held to the limits of its user. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import type { SluiceServerOptions } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/bytes.js";
import { asked, calling, chatting, doing, gate } from "../chat/chatting.js";
import { CHANGING, FIXTURE, posted, program, served, visitor, type Serving } from "../sources/serving.js";
import type { Visitor } from "../visitor.js";
import { addressesWith } from "./register.js";
import { type Era, mcpClient } from "./mcp-client.js";

type UserLimits = NonNullable<SluiceServerOptions["userLimits"]>;

/** A way in: where there is no room left, what it answers. */
interface Way {
  readonly limits: UserLimits;
  readonly more?: () => Partial<SluiceServerOptions>;
  /** Goes the way until it is refused; gives what says so. */
  readonly go: (by: Visitor, serving: Serving) => Promise<string>;
  /** What the refusal says. */
  readonly says: RegExp;
}

const JSON_ONLY = { "content-type": "application/json", accept: "application/json" };
const call = async (by: Visitor, tool: string, args: object = {}): Promise<string> =>
  (await by.ask(`/tools/${tool}`, { method: "POST", headers: JSON_ONLY, body: JSON.stringify({ args }) })).text();
const own = (name: string) => program(name, CHANGING, { user_files: true });
/** A program whose tools make files. */
const MAKING = `"${process.execPath}" "${fileURLToPath(new URL("../../files/lab-server.mjs", import.meta.url))}"`;
const lab = () => ({ sources: [program("lab", FIXTURE)] });
const NO_BYTES = /You have 0 of 10 bytes of artifacts/;
const PROGRAMS = /You have 1 of 1 running programs/;
const RUNS = /You have 1 of 1 chat runs/;

async function uploaded(by: Visitor, path: string): Promise<string> {
  return (await by.ask(path, { method: "POST", body: noise(100, 1) })).text();
}

/** The last events of a run, as JSON. */
async function ranTo(by: Visitor, query = "Go."): Promise<string> {
  return JSON.stringify(await (await asked(by, query)).telling.rest());
}

/** What a client of MCP stores and starts. */
function limitedMcp(way: "mcp" | "raw", era: Era): readonly Way[] {
  return [
    {
      limits: { artifactBytes: 10 },
      more: () => ({ sources: [program("own", CHANGING)] }),
      go: async (by) => (await mcpClient(by, way, era)).call("own", "pdf"),
      says: NO_BYTES,
    },
    {
      limits: { programs: 1 },
      more: () => ({ sources: [own("a"), own("b")] }),
      go: async (by) => {
        await call(by, "a.echo");
        return (await mcpClient(by, way, era)).call("b", "echo");
      },
      says: PROGRAMS,
    },
  ];
}

const WAYS: Readonly<Record<string, readonly Way[]>> = {
  "POST /artifacts": [
    { limits: { artifactBytes: 10 }, go: (by) => uploaded(by, "/artifacts"), says: NO_BYTES },
    { limits: { artifactBytes: 10 }, go: (by) => uploaded(by, "/artifacts?trace=t"), says: NO_BYTES },
  ],
  "POST /files": [
    {
      limits: { fileBytes: 10 },
      go: (by) => uploaded(by, "/files?filename=a"),
      says: /You have 0 of 10 bytes of files/,
    },
    {
      limits: { files: 1 },
      go: async (by) => (await uploaded(by, "/files?filename=a"), uploaded(by, "/files?filename=b")),
      says: /You have 1 of 1 files/,
    },
  ],
  // Another name is no way to another file.
  "PATCH /files/{id}": [
    {
      limits: { files: 1 },
      go: async (by) => {
        const { file } = JSON.parse(await uploaded(by, "/files?filename=a")) as { file: { id: string } };
        await by.ask(`/files/${file.id}`, { ...posted({ filename: "b" }), method: "PATCH" });
        return uploaded(by, "/files?filename=a");
      },
      says: /You have 1 of 1 files/,
    },
  ],
  "POST /tools/{name}": [
    {
      limits: { artifactBytes: 10 },
      more: () => ({ sources: [program("own", CHANGING)] }),
      go: (by) => call(by, "own.pdf"),
      says: NO_BYTES,
    },
    {
      limits: { artifactBytes: 10 },
      more: lab,
      go: (by) => call(by, "lab.resources_read", { uri: "test://file/pdf/900" }),
      says: NO_BYTES,
    },
    {
      limits: { fileBytes: 10 },
      more: () => ({ sources: [program("made", MAKING, { user_files: true })] }),
      go: (by) => call(by, "made.show"),
      says: /You have 0 of 10 bytes of files/,
    },
    {
      limits: { programs: 1 },
      more: () => ({ sources: [own("a"), own("b")] }),
      go: async (by) => (await call(by, "a.echo"), call(by, "b.echo")),
      says: PROGRAMS,
    },
  ],
  "POST /mcp/{source}": [...limitedMcp("mcp", "2025"), ...limitedMcp("mcp", "2026")],
  "POST /raw/{source}": [...limitedMcp("raw", "2025"), ...limitedMcp("raw", "2026")],
  "GET /tools": [
    {
      limits: { programs: 1 },
      more: () => ({ sources: [own("a"), own("b")] }),
      go: async (by) => (await by.ask("/tools")).text(),
      says: PROGRAMS,
    },
  ],
  "POST /sources/{name}/connection": [
    {
      limits: { programs: 1 },
      more: () => ({ sources: [own("a"), own("b")] }),
      go: async (by) => {
        await call(by, "a.echo");
        return (await by.ask("/sources/b/connection", { method: "POST" })).text();
      },
      says: PROGRAMS,
    },
  ],
  "GET /resources/{namespace}/{uri}": [
    {
      limits: { artifactBytes: 10 },
      more: lab,
      go: async (by) => (await by.ask(`/resources/lab/${encodeURIComponent("test://file/pdf/900")}`)).text(),
      says: NO_BYTES,
    },
  ],
  "POST /chat": [
    {
      limits: { artifactBytes: 10 },
      more: () => ({ sources: [program("own", CHANGING)] }),
      go: (by) => ranTo(by),
      says: NO_BYTES,
    },
    { limits: { tokensPerDay: 1 }, go: (by) => ranTo(by), says: /You have used [\d,]+ of 1 tokens of the model/ },
  ],
  "POST /sessions": [
    {
      limits: { sessions: 1 },
      go: async (_by, serving) => visitor(serving).then(() => "", String),
      says: /You have 1 of 1 living sessions/,
    },
    {
      limits: { requestsPerDay: 1 },
      go: async (_by, serving) => visitor(serving).then(() => "", String),
      says: /You have used 1 of 1 requests in 24 hours/,
    },
  ],
};

const model = calling("own_pdf", "big");

function servedWith(way: Way): Serving {
  const big = doing("big", async () => "x");
  return chatting(model, [big], { userLimits: way.limits, filesStore: new MemoryArtifactStore(), ...way.more?.() });
}

test("the addresses are those that the register says", () => {
  expect(Object.keys(WAYS).toSorted()).toEqual(addressesWith("limits").toSorted());
});

describe.each(Object.entries(WAYS))("%s", (_, ways) => {
  test.each(ways)("$limits", async (way) => {
    const serving = servedWith(way);
    const by = await visitor(serving);
    expect(await way.go(by, serving)).toMatch(way.says);
  });
});

test("a run holds its user's lease however it is asked for", async () => {
  const held = gate();
  const serving = chatting(calling("wait"), [held.tool], { userLimits: { runs: 1 } });
  const by = await visitor(serving);
  await asked(by);
  await held.called(1);
  expect(await asked(by).then(() => "", String)).toMatch(RUNS);
  held.open();
});

test.each(["GET /sources", "GET /artifacts", "GET /events", "POST /chat", "GET /mcp/x", "GET /nothing"])(
  "%s counts as a request",
  async (address) => {
    const [method = "", path = ""] = address.split(" ");
    const serving = served({ userLimits: { requestsPerMinute: 1 } });
    const by = await visitor(serving);
    expect((await by.ask(path, { method })).status).toBe(429);
  },
);

test.each(["mcp", "raw"] as const)("a batch at %s is refused: many requests would count as one", async (way) => {
  const serving = served({ sources: [program("lab", FIXTURE)] });
  const by = await visitor(serving);
  const ping = { jsonrpc: "2.0", method: "ping" };
  const body = JSON.stringify([
    { ...ping, id: 1 },
    { ...ping, id: 2 },
  ]);
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (init: RequestInit) => (way === "raw" ? by.askAsPage("/raw/lab", init) : by.ask("/mcp/lab", init));
  const answer = await post({ method: "POST", headers, body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("send the messages one at a time");
});
