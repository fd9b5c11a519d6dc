/** The fixture server through a ToolNode: every kind of content, more than the SDK takes, deaths, and a store that fails. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ArtifactWriter, MemoryArtifactStore } from "../../../web/src/node.js";
import type { ExternalToolConfig } from "../../../web/src/tools-node.js";
import { toVariables } from "../../../web/src/tools/config/variables.js";
import { bytesOf } from "../fixture/bytes.mjs";
import { FILES } from "../servers/folder.js";
import { serveFixture, type Serving } from "../serving.js";
import { type Api, KEY, type Kind, serveApi, sourceOf } from "./api.js";
import { type Fronted, inFront, kept, seen, useFront } from "./in-front.js";

describe("the fixture", () => {
  const STDIO = fileURLToPath(new URL("../fixture/stdio.mjs", import.meta.url));
  /** Its tools run as tasks, or ask a person; written with the official SDK. */
  const TASKS = fileURLToPath(new URL("../../unit/tools/sources/mcp/task-server.mjs", import.meta.url));
  const SIZE = 30_000;
  /** More than any message that the SDK takes over stdio. */
  const LARGE = 24 * 1024 * 1024;

  const overStdio: ExternalToolConfig = {
    name: "fix",
    transport: "mcp",
    connection: `"${process.execPath}" "${STDIO}"`,
    retry_policy: { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 },
  };

  let serving: Serving;
  beforeAll(async () => {
    serving = await serveFixture();
  });
  afterAll(() => serving[Symbol.asyncDispose]());

  describe.each([
    ["stdio", () => overStdio],
    ["HTTP", () => ({ ...overStdio, connection: serving.url })],
  ] as const)("%s", (_, config) => {
    const use = useFront(() => inFront(config()));

    test.each<[string, readonly ["pdf" | "png" | "wav", number][]]>([
      ["image", [["png", SIZE]]],
      ["audio", [["wav", SIZE]]],
      ["embedded_blob", [["pdf", SIZE]]],
      ["structured", [["pdf", SIZE]]],
      ["structured_only", [["pdf", SIZE]]],
      ["app_bytes", [["pdf", SIZE]]],
      ["json_text", [["pdf", SIZE]]],
      ["markdown", [["png", SIZE]]],
      ["byte_array", [["pdf", SIZE]]],
      ["embedded_text", []],
    ])("%s", async (tool, files) => {
      const front = use();
      const result = await front.call(tool, { bytes: SIZE });
      const { hashes, ...rest } = await seen(front, result);
      // Long text is an artifact too.
      const { hashes: expected, ...well } = kept(...files.map(([kind, size]) => bytesOf(kind, size)));
      expect(rest).toEqual(well);
      expect(hashes).toEqual(expect.arrayContaining([...expected]));
      expect(result.text.length).toBeLessThan(50_000);
    });

    test("more than any SDK takes", async () => {
      const front = use();
      const result = await front.call("embedded_blob", { bytes: LARGE });
      expect(await seen(front, result)).toEqual(kept(bytesOf("pdf", LARGE)));
      expect(result.text).toContain("24.0 MB");
    });

    test("a store that fails costs the file and not the answer, and says so", async () => {
      const store = new FullStore();
      await using front = await inFront(config(), { store });
      const result = await front.call("embedded_blob", { bytes: SIZE });
      const { leaks, isError } = await seen(front, result);
      expect({ leaks, isError }).toEqual({ leaks: [], isError: false });
      expect(front.events.map(({ kind }) => kind)).toContain("failed");
      expect(result.text).toContain("PDF");
      expect(result.text).not.toContain("/srv");
      store.isFull = false;
      expect((await front.call("embedded_blob", { bytes: SIZE })).text).not.toContain("warning");
    });
  });

  test("a server that dies in the middle of a result: an error, nothing of the half, and another server", async () => {
    await using front = await inFront(overStdio);
    await expect(front.call("crash", { bytes: 300_000 })).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
    const left: string[] = [];
    for await (const { id } of front.store.list()) left.push(id);
    expect(left).toEqual([]);
    expect(await seen(front, await front.call("image", { bytes: SIZE }))).toEqual(kept(bytesOf("png", SIZE)));
  });

  test.each([
    ["2025-11-25", TASKS, "elicit", { action: "accept", content: { name: "Ada" } }],
    ["2026-07-28", STDIO, "test_input_required_result_elicitation", "Hello, Ada!"],
  ])("a person is asked what a server wants to know, and may end the call, %s", async (_, script, tool, said) => {
    const connection = `"${process.execPath}" "${script}"`;
    await using front = await inFront({ ...overStdio, connection });
    expect((await front.node.call(tool, {}, { pause: async () => ({ name: "Ada" }) })).value).toEqual(said);
    const reason = new Error("paused until tomorrow");
    await expect(front.node.call(tool, {}, { pause: () => Promise.reject(reason) })).rejects.toBe(reason);
    expect(front.events).toEqual([]);
  });

  test("what a tool says of its failure is a result, with its picture stored, and nothing is tried again", async () => {
    await using front = await inFront(overStdio);
    const result = await front.call("is_error", { bytes: SIZE });
    expect(await seen(front, result)).toEqual({ ...kept(bytesOf("png", SIZE)), isError: true });
    const refused = front.call("protocol_error", { message: "city must be Oslo" });
    await expect(refused).rejects.toThrow(/ It says: ".*city must be Oslo"$/);
    expect(front.events.map(({ kind }) => kind)).toEqual(["stored"]);
  });

  /** As one on a disk without space. */
  class FullStore extends MemoryArtifactStore {
    isFull = true;

    override async openWriter(...args: Parameters<MemoryArtifactStore["openWriter"]>): Promise<ArtifactWriter> {
      if (this.isFull) throw new Error("ENOSPC: no space left on device, write '/srv/artifacts'");
      return super.openWriter(...args);
    }
  }
});

/** HTTP APIs and UTCP manuals through a ToolNode. */
describe("over HTTP", () => {
  describe.each<Kind>(["OpenAPI", "UTCP"])("an API described by %s", (kind) => {
    async function setting(): Promise<{ readonly api: Api; readonly front: Fronted }> {
      const api = await serveApi();
      const front = await inFront(sourceOf(kind, api), { variables: toVariables({ FILES_KEY: KEY }) });
      onTestFinished(() => front[Symbol.asyncDispose]());
      return { api, front };
    }

    test("files arrive byte for byte, whatever they are", async () => {
      const { front } = await setting();
      for (const [name, original] of Object.entries(FILES)) {
        expect(await seen(front, await front.call("get_file", { name }))).toEqual(kept(original));
      }
      const { text: told } = await front.call("get_file", { name: "report.pdf" });
      expect(told).toContain("PDF");
      expect(told).not.toContain(KEY);
    });

    test("429 and 500 are tried again, 404 and a wrong key are not", async () => {
      const { api, front } = await setting();
      api.refuses.push({ status: 429, headers: { "retry-after": "0" } }, { status: 500 });
      expect(await seen(front, await front.call("get_file", { name: "photo.png" }))).toEqual(kept(FILES["photo.png"]));
      expect(front.events.map(({ kind: what }) => what)).toEqual(["retry", "retry", "stored"]);
      api.asked.length = 0;
      const missing = await front.call("get_file", { name: "nothing" }).catch((error: unknown) => error);
      expect(missing).toMatchObject({ code: "E_TOOL_CLIENT", status: 404 });
      api.refuses.push({ status: 401 });
      const unknown = await front.call("rows").catch((error: unknown) => error);
      expect(unknown).toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
      expect(`${String(missing)}${String(unknown)}`).not.toMatch(/hunter2|s3cret/);
      expect(api.asked).toHaveLength(2);
    });

    test("without a value for its variable it is not connected, and nobody is asked", async () => {
      const api = await serveApi();
      const error = await inFront(sourceOf(kind, api), { variables: toVariables({}) }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "E_TOOL_AUTH", message: expect.stringContaining("FILES_KEY") as string });
      expect(api.asked).toEqual([]);
    });
  });

  test("an API sends what it was sent", async () => {
    const api = await serveApi();
    await using front = await inFront(sourceOf("OpenAPI", api), { variables: toVariables({ FILES_KEY: KEY }) });
    expect((await front.call("echo", { body: { a: 1, b: [null] } })).value).toEqual({ a: 1, b: [null] });
  });
});
