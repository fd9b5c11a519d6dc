/** The MCP source against servers that others wrote. */
import { createHash } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SourceConnection } from "../../../../web/src/tools/source.js";
import { bytesOf } from "../../../e2e/fixture/bytes.mjs";
import { ROOT } from "../../cli/command.js";
import { call, hashOf, opened, process, setting, until, type Setting } from "./mcp/setting.js";

const SERVERS = join(ROOT, "node_modules", "@modelcontextprotocol");

describe("server-everything", () => {
  let at: Setting;
  let connection: SourceConnection;
  beforeAll(async () => {
    at = await setting();
    const argv = [
      globalThis.process.execPath,
      join(SERVERS, "server-everything", "dist", "index.js"),
      "stdio",
    ] as const;
    connection = await opened(process(at, { argv }), at);
  });
  afterAll(() => connection[Symbol.asyncDispose]());

  it("lists tools, and says which of them may be repeated", async () => {
    const tools = await connection.tools(new AbortController().signal);
    expect(tools.find(({ name }) => name === "get-tiny-image")).toMatchObject({ isRepeatable: true });
    expect(tools.some(({ isRepeatable }) => !isRepeatable)).toBe(true);
    expect(tools.find(({ name }) => name === "get-structured-content")?.output_schema).toMatchObject({
      type: "object",
    });
  });

  it("gives an image", async () => {
    const { reduced } = await call(connection, "get-tiny-image");
    expect(reduced.artifacts).toMatchObject([{ mime_type: "image/png" }]);
    expect(reduced.text).not.toContain("iVBOR");
  });

  it("gives an embedded blob, and links", async () => {
    const blob = await call(connection, "get-resource-reference", { resourceType: "Blob", resourceId: 1 });
    expect(blob.reduced.artifacts).toHaveLength(1);
    const links = await call(connection, "get-resource-links", { count: 3 });
    expect(links.reduced.text.match(/"fetched":false/g)).toHaveLength(3);
  });

  it("gives structured content", async () => {
    await connection.tools(new AbortController().signal);
    const { reduced } = await call(connection, "get-structured-content", { location: "Chicago" });
    expect(reduced.value).toMatchObject({ temperature: expect.any(Number) as unknown });
  });

  it("tells of progress", async () => {
    const told: number[] = [];
    const onProgress = ({ progress }: { readonly progress: number }): void => void told.push(progress);
    await call(connection, "trigger-long-running-operation", { duration: 0.3, steps: 3 }, { onProgress });
    expect(told).toEqual([1, 2, 3]);
  });

  it("is given up in the middle of a call", async () => {
    const abort = new AbortController();
    const long = call(
      connection,
      "trigger-long-running-operation",
      { duration: 60, steps: 600 },
      {
        signal: abort.signal,
        onProgress: () => abort.abort(new Error("enough")),
      },
    );
    await expect(long).rejects.toThrow("enough");
    expect((await call(connection, "echo", { message: "still there" })).reduced.text).toContain("still there");
  });

  it("lists, reads, completes and watches resources", async () => {
    const { resources } = connection;
    if (resources === undefined) throw new Error("no resources");
    const signal = AbortSignal.timeout(20_000);
    const [first] = await resources.list(signal);
    expect(first?.uri).toMatch(/^\w+:\/\//);
    const templates = await resources.templates(signal);
    const template = templates.find(({ uri_template }) => uri_template.includes("blob"))?.uri_template ?? "";
    const uri = template.replace(/\{\w+\}/, "1");
    const read = await resources.read(uri, { scope: {}, inlineChars: 1000, signal });
    expect(read.contents).toMatchObject([{ kind: "artifact", uri }]);
    const text = await resources.read(first?.uri ?? "", { scope: {}, inlineChars: 100_000, signal });
    expect(text.contents).toMatchObject([{ kind: "text" }]);
    await resources.subscribe(first?.uri ?? "", signal);
    await call(connection, "toggle-subscriber-updates");
    const told = await until(() => at.notices.find(({ kind }) => kind === "resource_updated"));
    expect(told).toEqual({ kind: "resource_updated", uri: first?.uri });
    await call(connection, "toggle-subscriber-updates");
    await resources.unsubscribe(first?.uri ?? "", signal);
  });
});

describe("server-filesystem", () => {
  let at: Setting;
  let connection: SourceConnection;
  let folder: string;
  const picture = bytesOf("png", 400_000);
  beforeAll(async () => {
    at = await setting();
    folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-source-")));
    await writeFile(join(folder, "picture.png"), picture);
    await writeFile(join(folder, "notes.txt"), "words\n".repeat(10_000));
    const argv = [globalThis.process.execPath, join(SERVERS, "server-filesystem", "dist", "index.js"), folder] as const;
    connection = await opened(process(at, { argv }), at);
  });
  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it("gives a picture in both halves of its result, under a strict schema: one artifact", async () => {
    await connection.tools(new AbortController().signal);
    const { reduced } = await call(connection, "read_media_file", { path: join(folder, "picture.png") });
    expect(await hashOf(reduced, at)).toBe(createHash("sha256").update(picture).digest("hex"));
  });

  it("gives a long text as an artifact, and what fails as a result", async () => {
    const long = await call(connection, "read_text_file", { path: join(folder, "notes.txt") });
    expect(long.reduced.artifacts[0]).toMatchObject({ size_bytes: 60_000, mime_type: "text/plain" });
    const failed = await call(connection, "read_text_file", { path: join(folder, "nowhere.txt") });
    expect(failed.isError).toBe(true);
  });
});
