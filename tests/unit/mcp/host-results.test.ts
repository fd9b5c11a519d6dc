/** What hosts that hide or drop a part of a result are told of it. */
import { describe, expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";
import { FileArtifactStore } from "../../../web/src/node.js";
import type { InterceptorOptions } from "../../../web/src/mcp/interceptor-options.js";
import { objectOr } from "../../../web/src/jsonrpc/rpc.js";
import { readImageFile } from "../../../web/src/documents/image-file.js";
import { encodePng } from "../../support/pictures.js";
import { emptyFolder } from "../../support/folder.js";
import { image, Talk, textOf, uriIn, type Message } from "./interceptor/talk.js";

type Block = Readonly<Record<string, unknown>> & { readonly type: string; readonly text?: string };

const VERSIONS: Readonly<Record<string, string>> = {
  "claude-code": "2.1.328",
  "codex-mcp-client": "0.169.0",
  opencode: "1.18.33",
  "gemini-cli-mcp-client": "0.61.0",
  "qwen-cli-mcp-client-fix": "0.0.1",
  "@cline/core": "0.0.0",
  kilo: "7.7.7",
};

/** A result as a client gets it. What was stored of it puts it together again. */
async function answerTo(
  name: string,
  result: object,
  options: InterceptorOptions = {},
  tools: readonly object[] = [],
): Promise<Message> {
  const talk = new Talk(options);
  const clientInfo = { name, version: VERSIONS[name] ?? "1.0.0" };
  await talk.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }, {});
  if (tools.length > 0) await talk.list(...tools);
  const answer = await talk.call("shot", result);
  expect(await (await createSluice({ store: talk.store })).restore(answer.result)).toEqual(result);
  return answer;
}

const blocksOf = ({ result }: Message): Block[] => (result?.["content"] ?? []) as Block[];
const typesOf = (answer: Message): string[] => blocksOf(answer).map(({ type }) => type);
const structureOf = ({ result }: Message): Readonly<Record<string, unknown>> | undefined =>
  result?.["structuredContent"] as Readonly<Record<string, unknown>> | undefined;

const ROWS = Array.from({ length: 3000 }, (_, id) => ({ id, name: `name ${id}`, city: "Zürich" }));
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("rows in both halves", () => {
  const both = {
    content: [{ type: "text", text: JSON.stringify({ rows: ROWS }, null, 2) }],
    structuredContent: { rows: ROWS },
  };

  test.each(["claude-code", "codex-mcp-client"])("%s reads of them in the half that it shows", async (name) => {
    const rows = String(structureOf(await answerTo(name, both))?.["rows"]);
    expect(rows).toMatch(
      /^artifact:\/\/srv_[0-9a-f]{12} \[sluice\] JSON, [\d.]+ KB: array of 3,000 \{id: integer, name: string, city: string\}/,
    );
    expect(rows).toMatch(/Read it with srv_artifact_read, [^{]+, \{"uri":"artifact:\/\/srv_/);
    expect(rows).toContain("Preview (from the file):\n> ");
    expect(rows.length).toBeLessThan(1200);
  });

  test.each([
    "gemini-cli-mcp-client",
    "qwen-cli-mcp-client-fix",
    "@cline/core",
    "kilo",
    "opencode",
    "claude-code",
    "somebody",
  ])("%s is told of them once", async (name) => {
    const answer = await answerTo(name, both);
    const text = textOf(answer);
    expect(count(text, "[sluice] ")).toBe(1);
    expect(count(text, "Preview (from the file)")).toBe(1);
    const everything = JSON.stringify(answer.result);
    expect(new Set(everything.match(/artifact:\/\/srv_[0-9a-f]+/g)).size).toBe(1);
  });

  test("an unknown host reads the sentence in both, and the preview in one", async () => {
    const rows = String(structureOf(await answerTo("somebody", both))?.["rows"]);
    expect(rows).toMatch(/ \[sluice\] JSON, .*array of 3,000/);
    expect(rows).not.toContain("Preview");
  });

  test("a program that does not say who it is has plain references", async () => {
    const talk = new Talk();
    expect(structureOf(await talk.call("rows", both))?.["rows"]).toMatch(/^artifact:\/\/\S+$/);
  });
});

describe("structuredContent that the host would not show", () => {
  const numbers = { structuredContent: { total: 12345678901234567890n.toString(), list: [1, 2, 3] } };

  test.each(["gemini-cli-mcp-client", "ai-sdk-mcp-client", "@langchain/mcp-adapters", "continue-cli-client"])(
    "comes as text to %s",
    async (name) => {
      for (const content of [[], [image(500)]]) {
        if (name === "@langchain/mcp-adapters" && content.length > 0) continue;
        const answer = await answerTo(name, { content, ...numbers });
        expect(textOf(answer)).toContain(JSON.stringify(numbers.structuredContent));
      }
    },
  );

  test.each(["opencode", "kilo", "claude-code", "codex-mcp-client", "qwen-cli-mcp-client-fix", "somebody"])(
    "stays as it is for %s, which shows it",
    async (name) => {
      const result = { content: [], ...numbers };
      expect((await answerTo(name, result)).result).toEqual(result);
    },
  );

  test("is not told again where a text says something", async () => {
    const result = { content: [{ type: "text", text: "3 numbers" }], ...numbers };
    expect((await answerTo("gemini-cli-mcp-client", result)).result).toEqual(result);
  });

  test("hides no image from Codex", async () => {
    const result = { content: [{ type: "text", text: "a chart" }, image(3000)], ...numbers };
    const answer = await answerTo("codex-mcp-client", result);
    expect(structureOf(answer)).toBeUndefined();
    expect(typesOf(answer)).toEqual(["text", "text", "image", "text"]);
    expect(blocksOf(answer)[0]?.text).toBe(JSON.stringify(numbers.structuredContent));
    const claude = await answerTo("claude-code", result);
    expect(structureOf(claude)).toEqual(numbers.structuredContent);
    expect(typesOf(claude)).toContain("image");
  });
});

test("LangChain's model reads the text of an embedded resource", async () => {
  const resource = { uri: "file:///notes.md", mimeType: "text/markdown", text: "# Notes\nBuy milk." };
  const answer = await answerTo("@langchain/mcp-adapters", { content: [{ type: "resource", resource }] });
  expect(blocksOf(answer)).toEqual([{ type: "text", text: "[sluice] Resource file:///notes.md:\n# Notes\nBuy milk." }]);
});

test.each(["opencode", "kilo", "@langchain/mcp-adapters"])("%s is told of a link in words", async (name) => {
  const answer = await answerTo(name, { content: [{ type: "resource_link", uri: "file:///a.pdf", name: "A paper" }] });
  expect(typesOf(answer)).toEqual(["text"]);
  expect(textOf(answer)).toContain('"A paper": file:///a.pdf');
});

describe("documents and sound", () => {
  const pdf = Buffer.from(`%PDF-1.4\n${"x".repeat(5000)}`).toString("base64");
  const resource = { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: pdf } };
  const sound = {
    type: "audio",
    mimeType: "audio/wav",
    data: Buffer.from(`RIFF\x24\0\0\0WAVEfmt ${"x".repeat(3000)}`).toString("base64"),
  };

  test.each([
    ["claude-code", ["resource", "audio", "text"]],
    ["gemini-cli-mcp-client", ["resource", "text", "text"]],
    ["qwen-cli-mcp-client-fix", ["resource", "text", "text"]],
    ["opencode", ["resource", "text", "text"]],
    ["kilo", ["resource", "text", "text"]],
    ["codex-mcp-client", ["text", "text"]],
    ["somebody", ["text", "text"]],
  ])("%s gets what it handles itself", async (name, types) => {
    const answer = await answerTo(name, { content: [resource, sound] });
    expect(typesOf(answer)).toEqual(types);
    expect(textOf(answer)).toMatch(/PDF/);
    expect(uriIn(answer)).toMatch(/^artifact/);
  });
});

describe("pictures", () => {
  /** Noise, which no PNG makes smaller. */
  const noise = (width: number, height: number): Uint8Array => {
    let seed = 7;
    return encodePng(width, height, () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) >>> 23, 0);
  };
  const block = (bytes: Uint8Array, mimeType = "image/png"): object => ({
    type: "image",
    mimeType,
    data: Buffer.from(bytes).toString("base64"),
  });
  const shownIn = (answer: Message): Promise<{ mimeType: unknown; bytes: number; width: number; height: number }[]> =>
    Promise.all(
      blocksOf(answer)
        .filter(({ type }) => type === "image")
        .map(async ({ data, mimeType }) => {
          const bytes = Buffer.from(String(data), "base64");
          const file = await readImageFile(bytes);
          expect(file?.mime_type).toBe(mimeType);
          return { mimeType, bytes: bytes.length, width: file?.width ?? 0, height: file?.height ?? 0 };
        }),
    );

  test("the third and later ones are shown", async () => {
    const content = Array.from({ length: 6 }, (_, at) => image(1000 + at));
    expect(await shownIn(await answerTo("opencode", { content }))).toHaveLength(6);
  });

  test("one of 3 MB is shown with fewer bytes, one that is too long with fewer pixels, and the sentence tells", async () => {
    const large = await answerTo("claude-code", { content: [block(noise(1700, 1700))] });
    const [first] = await shownIn(large);
    expect(first).toMatchObject({ mimeType: "image/jpeg", width: 1700, height: 1700 });
    expect(first?.bytes).toBeLessThanOrEqual(1024 * 1024);
    const tall = await answerTo("claude-code", { content: [block(encodePng(800, 9000, (at) => at % 7))] });
    expect(await shownIn(tall)).toMatchObject([{ width: 139, height: 1568 }]);
    expect(textOf(tall)).toContain("(scaled down to 139 × 1,568 pixels here)");
  });

  test("that of an embedded resource is shown as an image", async () => {
    const blob = Buffer.from(encodePng(30, 20, () => 9)).toString("base64");
    const resource = { uri: "file:///a.png", mimeType: "image/png", blob };
    expect(await shownIn(await answerTo("kilo", { content: [{ type: "resource", resource }] }))).toHaveLength(1);
  });

  test.each([
    ["codex-mcp-client", 1],
    ["qwen-cli-mcp-client-fix", 1],
    ["claude-code", 0],
    ["gemini-cli-mcp-client", 0],
  ])("of a call that failed %s shows %i", async (name, shown) => {
    const result = { content: [{ type: "text", text: "no" }, image(2000)], isError: true };
    expect(await shownIn(await answerTo(name, result))).toHaveLength(shown);
  });

  const whole = encodePng(60, 40, (at) => at % 251);
  const damaged = (at: number): Uint8Array => Uint8Array.from(whole, (byte, index) => (index === at ? byte ^ 1 : byte));
  const BMP = Buffer.concat([Buffer.from("BM"), Buffer.alloc(2000, 3)]);
  const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${"<g/>".repeat(400)}</svg>`);

  test.each([
    ["a signature alone", block(whole.subarray(0, 8))],
    ["nothing", block(new Uint8Array(0))],
    ["one that is cut off", block(whole.subarray(0, whole.length - 20))],
    ["one without its last chunk", block(whole.subarray(0, whole.length - 12))],
    ["one whose rows are not all there", block(encodeShort())],
    ["one with a wrong byte", block(damaged(60))],
    ["a bitmap", block(BMP, "image/bmp")],
    ["a bitmap that is said to be a PNG", block(BMP)],
    ["a drawing", block(SVG, "image/svg+xml")],
    ["a drawing that is said to be a PNG", block(SVG)],
    ["a text", block(Buffer.from("hello ".repeat(300)))],
    [
      "a JPEG that is cut off",
      block(
        Buffer.concat([Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"), Buffer.alloc(900, 7)]),
        "image/jpeg",
      ),
    ],
  ])("%s does not stay", async (_, one) => {
    const answer = await answerTo("claude-code", { content: [{ type: "text", text: "see" }, one] });
    expect(typesOf(answer)).not.toContain("image");
    expect(
      await shownIn(await answerTo("somebody", { content: [one, image(700)] }, { showImages: true })),
    ).toHaveLength(1);
  });

  test.each([
    [
      "that is said to be of another type",
      { type: "image", mimeType: "image/jpeg", data: Buffer.from(whole).toString("base64") },
    ],
    ["of which no type is said", { type: "image", data: Buffer.from(whole).toString("base64") }],
    [
      "in a data URI",
      { type: "image", mimeType: "image/png", data: `data:image/png;base64,${Buffer.from(whole).toString("base64")}` },
    ],
    [
      "in lines",
      { type: "image", mimeType: "image/png", data: Buffer.from(whole).toString("base64").replace(/.{76}/g, "$&\n") },
    ],
  ])("one %s has the type of its bytes, and they alone", async (_, one) => {
    const answer = await answerTo("claude-code", { content: [one] });
    expect(await shownIn(answer)).toEqual([{ mimeType: "image/png", bytes: whole.length, width: 60, height: 40 }]);
  });

  test("a store of files shows them as well", async () => {
    const store = new FileArtifactStore(await emptyFolder());
    const talk = new Talk({ store });
    await talk.ask("initialize", { clientInfo: { name: "opencode", version: "1.18.33" } }, {});
    expect(await shownIn(await talk.call("shot", { content: [block(noise(1200, 1200)), image(900)] }))).toHaveLength(2);
  });

  test("no message gets too large for them", async () => {
    const content = Array.from({ length: 6 }, (_, at) => block(noise(1000, 1000 + at)));
    const answer = await answerTo("opencode", { content });
    expect(JSON.stringify(answer).length).toBeLessThan(8 * 1024 * 1024);
    expect(await shownIn(answer)).toHaveLength(6);
  });

  /** A PNG that says it has twice the rows that it has. */
  function encodeShort(): Uint8Array {
    const half = Buffer.from(encodePng(60, 20, (at) => at % 251));
    const full = Buffer.from(encodePng(60, 40, (at) => at % 251));
    // The header of the one, with its checksum, before the rows of the other.
    full.copy(half, 8, 8, 33);
    return half;
  }
});

describe("prose that the host shows whole", () => {
  const page = Array.from(
    { length: 220 },
    (_, at) => `Line ${at % 9} of a page that somebody wrote for others to read.`,
  ).join("\n");
  const rows = Array.from({ length: 700 }, (_, at) => `${at},name,city,${at * 7}`).join("\n");

  test.each(["claude-code", "gemini-cli-mcp-client", "opencode", "kilo", "qwen-cli-mcp-client-fix"])(
    "stays for %s",
    async (name) => {
      const result = { content: [{ type: "text", text: page }] };
      expect((await answerTo(name, result)).result).toEqual(result);
      const table = await answerTo(name, { content: [{ type: "text", text: rows }] });
      expect(textOf(table)).toMatch(/^\[sluice\] CSV/);
    },
  );

  test("does not stay for a host that cuts it, or is not known, or where a configuration says how long a text may be", async () => {
    const result = { content: [{ type: "text", text: page }] };
    expect(textOf(await answerTo("somebody", result))).toMatch(/^\[sluice\] /);
    expect(textOf(await answerTo("codex-mcp-client", result))).toMatch(/^\[sluice\] /);
    const config = { max_inline_size: 9000 };
    expect(textOf(await answerTo("claude-code", result, { config }))).toMatch(/^\[sluice\] /);
    const cut = { content: [{ type: "text", text: page.slice(0, 8500) }] };
    expect(textOf(await answerTo("@cline/core", cut))).toMatch(/^\[sluice\] /);
    expect((await answerTo("somebody", cut)).result).toEqual(cut);
  });

  test("stays as long as its tool's author says, where the host reads that", async () => {
    const long = { content: [{ type: "text", text: `${page}\n`.repeat(10) }] };
    const tool = (chars: number): object => ({
      name: "shot",
      inputSchema: { type: "object" },
      _meta: { "anthropic/maxResultSizeChars": chars },
    });
    expect((await answerTo("claude-code", long, {}, [tool(500_000)])).result).toEqual(long);
    expect(textOf(await answerTo("claude-code", long, {}, [tool(50_000)]))).toMatch(/^\[sluice\] /);
    expect(textOf(await answerTo("opencode", long, {}, [tool(500_000)]))).toMatch(/^\[sluice\] /);
    const short = { content: [{ type: "text", text: page }] };
    expect(textOf(await answerTo("opencode", short, {}, [tool(5000)]))).toMatch(/^\[sluice\] /);
  });

  test("stays only as far as all of the result does", async () => {
    const content = Array.from({ length: 5 }, (_, at) => ({ type: "text", text: `${at} ${page}` }));
    const answer = await answerTo("claude-code", { content });
    expect(count(textOf(answer), "[sluice]")).toBe(2);
    expect(JSON.stringify(answer.result?.["content"]).length).toBeLessThan(50_000);
  });

  test("Codex shows more of it to some of its models, and says which it has", async () => {
    const talk = new Talk();
    await talk.ask("initialize", { clientInfo: { name: "codex-mcp-client", version: "0.169.0" } }, {});
    const meta = { callId: "call_1", "x-codex-turn-metadata": { model: "gpt-5.5", turn_trigger: "exec" } };
    const params = { name: "read", arguments: {}, _meta: meta };
    const result = { content: [{ type: "text", text: page }] };
    expect((await talk.ask("tools/call", params, result)).result).toEqual(result);
  });
});

describe("a result for a program", () => {
  const result = {
    content: [{ type: "text", text: "3,000 rows" }, image(4000)],
    structuredContent: { rows: ROWS },
    isError: false,
  };

  async function askedBy(
    name: string,
    meta: object,
    given: object = result,
    host?: string,
  ): Promise<Message & { readonly talk: Talk }> {
    const talk = new Talk(host === undefined ? {} : { host });
    await talk.ask("initialize", { clientInfo: { name, version: VERSIONS[name] ?? "1" } }, {});
    const answer = await talk.ask("tools/call", { name: "rows", arguments: {}, _meta: meta }, given);
    return { ...answer, talk };
  }

  test.each([
    ["a script in Codex", "codex-mcp-client", { callId: "exec-1", itemId: "ctc_1" }],
    ["a client that asks for it", "somebody", { "sluice/whole": true }],
    ["each call of OpenCode's code mode, which says nothing of it", "opencode", {}, "opencode-code"],
  ])("comes whole for %s, and is stored", async (_, name, meta, host?: string) => {
    const { result: answer, talk } = await askedBy(name, meta, result, host);
    const { _meta, ...rest } = answer ?? {};
    expect(rest).toEqual(result);
    expect(_meta).toEqual({
      "sluice/artifacts": expect.arrayContaining([
        {
          uri: expect.stringMatching(/^artifact:/) as string,
          mime_type: "image/png",
          size_bytes: expect.any(Number) as number,
          filename: "rows.png",
        },
      ]) as unknown,
    });
    expect(talk.events.some(({ kind }) => kind === "stored")).toBe(true);
  });

  test("keeps the server's own _meta", async () => {
    const own = { ...result, _meta: { a: 1 } };
    const { result: answer } = await askedBy("somebody", { "sluice/whole": true }, own);
    expect(answer).toMatchObject({ ...own, _meta: { a: 1, "sluice/artifacts": expect.any(Array) as unknown } });
  });

  test("is reduced above 8 MiB, and says so", async () => {
    const large = {
      content: [{ type: "text", text: "x" }],
      structuredContent: { rows: ROWS, pad: "word ".repeat(1_800_000) },
    };
    const { result: answer, talk } = await askedBy("codex-mcp-client", { callId: "exec-2" }, large);
    expect(answer?.["_meta"]).toMatchObject({ "sluice/reduced": true });
    expect(textOf({ result: answer ?? {} })).toContain(
      "[sluice] This result has 8.7 MB, more than 7.9 MB that come whole",
    );
    expect(await (await createSluice({ store: talk.store })).restore(answer)).toEqual(large);
  });

  test("is for scripts alone", async () => {
    const { result: answer } = await askedBy("codex-mcp-client", { callId: "call_1", itemId: "fc_1" });
    expect(answer).not.toEqual(result);
    const { result: other } = await askedBy("claude-code", { callId: "exec-1" });
    expect(other).not.toEqual(result);
  });
});

describe("the list of references", () => {
  const listIn = ({ result }: Message): unknown => objectOr(result?.["_meta"])["sluice/refs"];

  test.each(["@cline/core", "claude-code", "somebody"])("is one short name for %s", async (name) => {
    expect(listIn(await answerTo(name, { content: [{ type: "text", text: "long ".repeat(9000) }] }))).toMatch(
      /^srv_[0-9a-f]{12}$/,
    );
  });

  test("stands in the result for a client that asks for it", async () => {
    const talk = new Talk();
    const meta = { "sluice/refs": "list" };
    const answer = await talk.ask("tools/call", { name: "a", arguments: {}, _meta: meta }, { content: [image(9000)] });
    expect(listIn(answer)).toEqual(expect.any(Array));
  });
});
