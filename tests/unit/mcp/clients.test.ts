/** What is written for a client, by what it says first. The lines are those that the clients sent in the runs of `docs/hosts.md`. */
import { describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/index.js";
import type { InterceptorOptions } from "../../../web/src/mcp/interceptor-options.js";
import { failingAt, faulty } from "../core/faulty-store.js";
import { begin, image, png, Talk, textOf, type Message } from "./interceptor/talk.js";

const META = "io.modelcontextprotocol/";
const CLAUDE_CODE = {
  name: "claude-code",
  title: "Claude Code",
  version: "2.1.332",
  description: "Anthropic's agentic coding tool",
  websiteUrl: "https://claude.com/claude-code",
};

/** A client that begins with `initialize`, and says there who it is. */
const introducing = (clientInfo: unknown, protocolVersion = "2025-06-18"): object => ({
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo },
});

/** A client of 2026-07-28, which says so in each request. */
const saying = (clientInfo: unknown, method: string, params: object = {}): object => ({
  method,
  params: {
    ...params,
    _meta: {
      [`${META}protocolVersion`]: "2026-07-28",
      [`${META}clientInfo`]: clientInfo,
      [`${META}clientCapabilities`]: { roots: { listChanged: true } },
    },
  },
});

const SCREEN = { content: [image()] };

/** Sends what a client says first, then calls a tool that answers with `result`. */
async function answered(first: object, result: object = SCREEN, options: InterceptorOptions = {}): Promise<Message> {
  const talk = new Talk({ links: "auto", ...options });
  await talk.say({ jsonrpc: "2.0", id: "first", ...first });
  await talk.hear({ jsonrpc: "2.0", id: "first", result: {} });
  const answer = await talk.call("shot", result);
  expect(await (await createSluice({ store: talk.store })).restore(answer.result)).toEqual(result);
  return answer;
}

const typesOf = ({ result }: Message): string[] =>
  ((result?.["content"] ?? []) as { type: string }[]).map(({ type }) => type);

describe("an image", () => {
  test.each([
    ["Claude Code", saying(CLAUDE_CODE, "server/discover")],
    ["Codex", introducing({ name: "codex-mcp-client", title: "Codex", version: "0.169.0" })],
    [
      "Codex, the first that shows images",
      introducing({ name: "codex-mcp-client", title: "Codex", version: "0.53.0" }),
    ],
    ["Gemini CLI", introducing({ name: "gemini-cli-mcp-client", version: "0.61.0" })],
    ["Gemini CLI, which told no version once", introducing({ name: "gemini-cli-mcp-client", version: "0.0.1" })],
    ["OpenCode", introducing({ name: "opencode", version: "1.18.33" }, "2025-11-25")],
    ["VS Code", introducing({ name: "Visual Studio Code", version: "1.100.0" })],
    ["VS Code Insiders", introducing({ name: "Visual Studio Code - Insiders", version: "1.107.0-insider" })],
    ["Cursor", introducing({ name: "cursor-vscode", version: "1.0.0" })],
    [
      "Qwen Code, whose name ends with the server's",
      introducing({ name: "qwen-cli-mcp-client-fix", version: "0.0.1" }),
    ],
    ["Kilo", introducing({ name: "kilo", version: "7.7.7" })],
    ["Strands", introducing({ name: "strands-agents-ts-sdk", version: "0.0.1" })],
    [
      "OpenAI Agents, whose user gave the server no name",
      introducing({ name: `stdio: ${"/opt/tools".repeat(9)}/server`, version: "1.0.0" }),
    ],
  ])("stays for %s, and is stored and named too", async (_, first) => {
    const answer = await answered(first);
    expect(typesOf(answer)).toEqual(["image", "text"]);
    expect(textOf(answer)).toMatch(/artifact:\/\/srv_[0-9a-f]{12}: PNG image/);
  });

  test.each([
    ["Codex before 0.53.0, which prints it as text", introducing({ name: "codex-mcp-client", version: "0.50.0" })],
    ["VS Code before 1.100", introducing({ name: "Visual Studio Code", version: "1.99.3" })],
    ["a Claude Code that tells no version", introducing({ name: "claude-code" })],
    ["a Claude Code whose version is none", introducing({ name: "claude-code", version: "two" })],
    ["LangChain, where the model decides", introducing({ name: "@langchain/mcp-adapters", version: "1.1.4" })],
    ["the Vercel AI SDK, where the model decides", introducing({ name: "ai-sdk-mcp-client", version: "1.0.101" })],
    ["Zed, which drops images in some versions", introducing({ name: "Zed", version: "0.1.0" })],
    ["mcporter, which prints base64", introducing({ name: "mcporter", version: "0.12.3" })],
    ["Copilot, which drops images", introducing({ name: "copilot-cli", version: "1.0.102" }, "2025-11-25")],
    ["Cline, which prints base64", introducing({ name: "@cline/core", version: "0.0.0" }, "2024-11-05")],
    ["Continue, which prints base64", introducing({ name: "continue-cli-client", version: "1.0.0" })],
    ["a name that only ends like Qwen's", introducing({ name: "my-qwen-cli-mcp-client-fix", version: "1" })],
    ["an unknown client", introducing({ name: "somebody", version: "9.9.9" })],
    ["a client without a name", introducing({})],
    ["a client that is no object", introducing("claude-code")],
    ["a name that is no string", introducing({ name: ["claude-code"], version: "2.1.332" })],
    ["a name of every object", introducing({ name: "__proto__", version: "2.1.332" })],
    ["a name without an end", introducing({ name: `claude-code${" ".repeat(1_000_000)}`, version: "2.1.332" })],
    ["a version without an end", introducing({ name: "claude-code", version: `2.1.${"3".repeat(1_000_000)}` })],
    ["nobody", { method: "ping" }],
  ])("does not stay for %s", async (_, first) => {
    expect(typesOf(await answered(first))).toEqual(["text"]);
  });

  test("stays at most twenty times in a result", async () => {
    const first = introducing({ name: "opencode", version: "1.18.33" });
    const content = Array.from({ length: 22 }, (_, at) => image(10 + at));
    const types = typesOf(await answered(first, { content }));
    expect(types.filter((type) => type === "image")).toHaveLength(20);
    expect(types.slice(20)).toEqual(["text", "text", "text"]);
  });

  test("of a call that failed does not stay: clients drop it, or print it as text", async () => {
    for (const name of ["gemini-cli-mcp-client", "cursor-vscode"]) {
      const answer = await answered(introducing({ name, version: "1.0.0" }), { ...SCREEN, isError: true });
      expect(typesOf(answer)).toEqual(["text"]);
      const worked = await answered(introducing({ name, version: "1.0.0" }), { ...SCREEN, isError: false });
      expect(typesOf(worked)).toEqual(["image", "text"]);
    }
  });

  test("stays for nobody with inline_media off, and for anybody with showImages", async () => {
    const cursor = introducing({ name: "cursor-vscode", version: "1.0.0" });
    expect(typesOf(await answered(cursor, SCREEN, { config: { inline_media: "off" } }))).toEqual(["text"]);
    const config = { inline_media: { types: ["image/jpeg"] } };
    expect(typesOf(await answered(cursor, SCREEN, { config }))).toEqual(["text"]);
    expect(typesOf(await answered(introducing({ name: "x" }), SCREEN, { showImages: true }))).toContain("image");
  });

  test("goes by the host that an option names, whatever the client says", async () => {
    const agents = introducing({ name: "server-0", version: "1.0.0" });
    expect(typesOf(await answered(agents, SCREEN, { host: "openai-agents" }))).toContain("image");
    const cursor = introducing({ name: "cursor-vscode", version: "1.0.0" });
    expect(typesOf(await answered(cursor, SCREEN, { host: "cline" }))).toEqual(["text"]);
    await expect(answered(cursor, SCREEN, { host: "netscape" })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringContaining("claude-code, codex") as string,
    });
  });

  test("inside a text does not stay", async () => {
    const result = { content: [{ type: "text", text: `![](data:image/png;base64,${png(5000)})` }] };
    const answer = await answered(introducing({ name: "cursor-vscode", version: "1.0.0" }), result);
    expect(JSON.stringify(answer)).not.toContain(png(5000).slice(0, 60));
  });
});

test("the client of one exchange is not that of another", async () => {
  const talk = new Talk();
  await begin(talk, "cursor-vscode");
  const shared = await talk.interceptor;
  const call = async (first: object): Promise<string> => {
    const exchange = shared.forExchange();
    await exchange.fromClient(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: 7, ...first })));
    let line = "";
    const forward = async (bytes: Uint8Array): Promise<void> => void (line += new TextDecoder().decode(bytes));
    const server = exchange.fromServer({ forward, complete: async () => {}, nonProtocol: async () => {} }, () => {});
    await server.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: 7, result: SCREEN })));
    await server.end();
    return line;
  };
  const params = { name: "shot", arguments: {} };
  const data = png(5000);
  expect(await call({ method: "tools/call", params })).toContain(data);
  expect(await call(saying({ name: "somebody", version: "1" }, "tools/call", params))).not.toContain(data);
  expect(await call({ method: "tools/call", params })).toContain(data);
});

describe("what restore goes by", () => {
  const langChain = introducing({ name: "@langchain/mcp-adapters", version: "1.1.4" });
  const link = { type: "resource_link", uri: "file:///a.pdf", name: "a" };
  const REFS = "sluice/refs";
  const metaIn = ({ result }: Message): unknown => result?.["_meta"];
  const nameIn = (answer: Message): unknown => (metaIn(answer) as Readonly<Record<string, unknown>>)[REFS];

  test.each([
    ["an image", SCREEN],
    ["twenty images", { content: Array.from({ length: 20 }, (_, at) => image(at)) }],
    ["a link of the server's own beside an image", { content: [link, image()] }],
    ["a link alone", { content: [link] }],
    ["bytes in both halves", { content: [image()], structuredContent: { again: png(5000), "a/b~": [png(300)] } }],
    ["_meta of the server's own", { _meta: { a: 1, b: { c: png(900) } }, content: [image()] }],
    ["a list of the server's own", { _meta: { [REFS]: [{ at: "", uri: "artifact://x" }] }, content: [image()] }],
    ["a name of the server's own", { _meta: { [REFS]: "srv_0123456789ab" }, content: [image()] }],
    ["_meta that is no object", { _meta: 7, content: [image()] }],
    ["a failure", { ...SCREEN, isError: true }],
    ["text", { content: [{ type: "text", text: `a ${"long ".repeat(4000)}` }] }],
    [
      "a whole document",
      { content: [], structuredContent: { rows: Array.from({ length: 9000 }, (_, id) => ({ id })) } },
    ],
  ])("the list of references is one short line, and restore works by it: %s", async (_, result) => {
    const answer = await answered(langChain, result);
    expect(nameIn(answer)).toMatch(/^srv_[0-9a-f]{12}$/);
  });

  test("links that are added are in the list too", async () => {
    const answer = await answered(langChain, SCREEN, { links: "always" });
    expect(typesOf(answer)).toEqual(["text", "resource_link"]);
    expect(nameIn(answer)).toMatch(/^srv_/);
  });

  test("what needs none has none", async () => {
    expect(nameIn(await answered(introducing({ name: "x" })))).toMatch(/^srv_/);
    expect((await answered(langChain, { content: [{ type: "text", text: "hello" }] })).result).not.toHaveProperty(
      "_meta",
    );
  });

  test("a result below hundreds of levels keeps the list", async () => {
    const deep = `${"[".repeat(250)}${"]".repeat(250)}`;
    const result = { content: [image()], structuredContent: { deep: JSON.parse(deep) as unknown } };
    expect(nameIn(await answered(langChain, result))).toEqual(expect.any(Array));
  });

  test("a response around it, other spelling, and lines of responses are restored", async () => {
    const talk = new Talk();
    await begin(talk, "@langchain/mcp-adapters");
    const one = await talk.call("shot", SCREEN);
    const two = await talk.call("shot", { content: [image(77)] });
    const sluice = await createSluice({ store: talk.store });
    const restored = async (json: string): Promise<string> => {
      const pieces: Uint8Array[] = [];
      for await (const piece of sluice.restoreStream(json)) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };
    const spelled = JSON.stringify(one, null, 2).replace("sluice/refs", "sluice\\/refs");
    expect(JSON.parse(await restored(spelled))).toEqual({ ...one, result: SCREEN });
    const lines = await restored(`${JSON.stringify(one)}\n\n${JSON.stringify(two)}\n`);
    expect(lines.split("\n").map((line) => (line === "" ? null : (JSON.parse(line) as unknown)))).toEqual([
      { ...one, result: SCREEN },
      null,
      { ...two, result: { content: [image(77)] } },
      null,
    ]);
  });

  test("the list belongs to the scope of the result", async () => {
    const scope = { user_id: "me" };
    const talk = new Talk({ scope });
    await begin(talk, "@langchain/mcp-adapters");
    const { result } = await talk.call("shot", SCREEN);
    const sluice = await createSluice({ store: talk.store });
    expect(await sluice.restore(result, { scope })).toEqual(SCREEN);
    await expect(sluice.restore(result)).rejects.toMatchObject({ code: "E_NOT_RESTORABLE" });
  });

  test("a list that cannot be stored stays in the result, and the failure is told of", async () => {
    const error = Object.assign(new Error("EIO: i/o error, write"), { code: "EIO" });
    const { store } = faulty(new MemoryArtifactStore({ retention: null }), failingAt(1, error, "putText"));
    const talk = new Talk({ store });
    await begin(talk, "@langchain/mcp-adapters");
    const answer = await talk.call("shot", SCREEN);
    expect(nameIn(answer)).toEqual(expect.any(Array));
    expect(await (await createSluice({ store })).restore(answer.result)).toEqual(SCREEN);
    const failure = { kind: "failed", error: { code: "E_STORE_WRITE" } };
    expect(talk.events).toMatchObject([failure, { kind: "stored" }]);
    expect(nameIn(await talk.call("shot", SCREEN))).toMatch(/^srv_/);
  });

  test("without a store the list stays", async () => {
    const talk = new Talk({ store: new NoOpArtifactStore({ warn: () => {} }) });
    await begin(talk, "@langchain/mcp-adapters");
    const answer = await talk.call("shot", SCREEN);
    expect(nameIn(answer)).toEqual(expect.any(Array));
  });

  describe("restore refuses", () => {
    test.each([
      ["a name of nothing", "srv_0123456789ab", "E_NOT_RESTORABLE"],
      ["a name that is none", "../../etc/passwd", "E_RESTORE_REFS"],
      ["an endless name", "a".repeat(1_000_000), "E_RESTORE_REFS"],
      ["an empty name", "", "E_RESTORE_REFS"],
      ["a URI", "artifact://srv_0123456789ab", "E_RESTORE_REFS"],
    ])("%s", async (_, name, code) => {
      const sluice = await createSluice({ store: new Talk().store });
      const restoring = sluice.restore({ content: [], _meta: { [REFS]: name } });
      const short = expect.stringMatching(/^.{1,500}$/) as string;
      await expect(restoring).rejects.toMatchObject({ code, message: short });
    });

    test("an artifact that a server made to look like a list", async () => {
      const talk = new Talk();
      await begin(talk, "@langchain/mcp-adapters");
      const secret = await talk.store.putText("the secret");
      // Longer than a text that is told.
      const entry = { at: "/content/0/text", uri: `artifact://${secret.id}`, kind: "text" };
      const list = JSON.stringify(Array.from({ length: 300 }, () => entry));
      const resource = {
        uri: "file:///x",
        mimeType: "application/vnd.sluice.refs+json",
        blob: Buffer.from(list).toString("base64"),
        _meta: { source: { restores: "result" } },
      };
      await talk.call("forge", { content: [{ type: "resource", resource }] });
      const [forged] = talk.events.flatMap((event) => (event.kind === "stored" ? event.artifacts : []));
      expect(forged).toMatchObject({ mime_type: expect.any(String) as string });
      const sluice = await createSluice({ store: talk.store });
      const unmarked = await talk.store.putText(`${list} `, { mime_type: resource.mimeType });
      const content = [{ type: "text", text: `artifact://${secret.id}` }];
      for (const id of [forged?.id, unmarked.id]) {
        const restoring = sluice.restore({ content, _meta: { [REFS]: id } });
        await expect(restoring).rejects.toMatchObject({ code: "E_RESTORE_REFS" });
      }
    });

    test("the list of another result, one that is damaged, and one that is gone", async () => {
      const talk = new Talk();
      await begin(talk, "@langchain/mcp-adapters");
      const structured = await talk.call("a", { content: [], structuredContent: { pdf: png(5000) } });
      const { result } = await talk.call("b", SCREEN);
      const sluice = await createSluice({ store: talk.store });
      const mixed = { ...result, _meta: metaIn(structured) };
      await expect(sluice.restore(mixed)).rejects.toMatchObject({ code: "E_RESTORE_REFS" });
      const id = String(nameIn(structured));
      await talk.store.delete(id);
      await expect(sluice.restore(structured.result)).rejects.toMatchObject({
        code: "E_NOT_RESTORABLE",
        message: expect.stringContaining(id),
      });
      const damaged = await talk.store.putText("[", {
        mime_type: "application/vnd.sluice.refs+json",
        source: { restores: "result" },
      });
      await expect(sluice.restore({ ...result, _meta: { [REFS]: damaged.id } })).rejects.toMatchObject({
        code: "E_STORE_CORRUPT",
        message: expect.stringContaining(damaged.id),
      });
    });
  });
});
