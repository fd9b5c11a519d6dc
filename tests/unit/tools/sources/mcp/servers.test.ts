import { createHash } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../../../../e2e/fixture/bytes.mjs";
import { ROOT } from "../../../cli/command.js";
import { useConnection } from "./fixture.js";
import { call, hashOf, processSource, until } from "./setting.js";

const SERVERS = join(ROOT, "node_modules", "@modelcontextprotocol");
const EVERYTHING = join(SERVERS, "server-everything", "dist", "index.js");
const FILESYSTEM = join(SERVERS, "server-filesystem", "dist", "index.js");

describe("server-everything", () => {
  const own = useConnection((at) => processSource(at, { argv: [process.execPath, EVERYTHING, "stdio"] }));

  it("lists tools, and says which of them may be repeated", async () => {
    const tools = await own.connection.tools(new AbortController().signal);
    expect(tools.find(({ name }) => name === "get-tiny-image")).toMatchObject({ isRepeatable: true });
    expect(tools.some(({ isRepeatable }) => !isRepeatable)).toBe(true);
    expect(tools.find(({ name }) => name === "get-structured-content")?.output_schema).toMatchObject({
      type: "object",
    });
  });

  it("gives an image", async () => {
    const { reduced } = await call(own.connection, "get-tiny-image");
    expect(reduced.artifacts).toMatchObject([{ mime_type: "image/png" }]);
    expect(reduced.text).not.toContain("iVBOR");
  });

  it("gives an embedded blob, and links", async () => {
    const blob = await call(own.connection, "get-resource-reference", { resourceType: "Blob", resourceId: 1 });
    expect(blob.reduced.artifacts).toHaveLength(1);
    const links = await call(own.connection, "get-resource-links", { count: 3 });
    expect(links.reduced.text.match(/"fetched":false/g)).toHaveLength(3);
  });

  it("gives structured content", async () => {
    await own.connection.tools(new AbortController().signal);
    const { reduced } = await call(own.connection, "get-structured-content", { location: "Chicago" });
    expect(reduced.value).toMatchObject({ temperature: expect.any(Number) as unknown });
  });

  it("tells of progress", async () => {
    const told: number[] = [];
    const onProgress = ({ progress }: { readonly progress: number }): void => void told.push(progress);
    await call(own.connection, "trigger-long-running-operation", { duration: 0.3, steps: 3 }, { onProgress });
    expect(told).toEqual([1, 2, 3]);
  });

  it("is given up in the middle of a call", async () => {
    const abort = new AbortController();
    const long = call(
      own.connection,
      "trigger-long-running-operation",
      { duration: 60, steps: 600 },
      {
        signal: abort.signal,
        onProgress: () => abort.abort(new Error("enough")),
      },
    );
    await expect(long).rejects.toThrow("enough");
    expect((await call(own.connection, "echo", { message: "still there" })).reduced.text).toContain("still there");
  });

  it("lists, reads, completes and watches resources", async () => {
    const { resources } = own.connection;
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
    await call(own.connection, "toggle-subscriber-updates");
    const told = await until(() => own.at.notices.find(({ kind }) => kind === "resource_updated"));
    expect(told).toEqual({ kind: "resource_updated", uri: first?.uri });
    await call(own.connection, "toggle-subscriber-updates");
    await resources.unsubscribe(first?.uri ?? "", signal);
  });
});

describe("server-filesystem", () => {
  let folder: string;
  const picture = bytesOf("png", 400_000);
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-source-")));
    await writeFile(join(folder, "picture.png"), picture);
    await writeFile(join(folder, "notes.txt"), "words\n".repeat(10_000));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const own = useConnection((at) => processSource(at, { argv: [process.execPath, FILESYSTEM, folder] }));

  it("gives a picture in both halves of its result, under a strict schema: one artifact", async () => {
    await own.connection.tools(new AbortController().signal);
    const { reduced } = await call(own.connection, "read_media_file", { path: join(folder, "picture.png") });
    expect(await hashOf(reduced, own.at)).toBe(createHash("sha256").update(picture).digest("hex"));
  });

  it("gives a long text as an artifact, and what fails as a result", async () => {
    const long = await call(own.connection, "read_text_file", { path: join(folder, "notes.txt") });
    expect(long.reduced.artifacts[0]).toMatchObject({ size_bytes: 60_000, mime_type: "text/plain" });
    const failed = await call(own.connection, "read_text_file", { path: join(folder, "nowhere.txt") });
    expect(failed.isError).toBe(true);
  });
});
