/** What files say of themselves beyond kind and size: told wherever a file is described, and never at the cost of the answer. */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { compileCore } from "../../../web/src/core/compile-node.js";
import { FACTS_PATIENCE, tellFacts } from "../../../web/src/core/facts-module.js";
import type { WasmSource } from "../../../web/src/core/engine.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { encodeText } from "../../support/encode-text.js";
import { base64, GZIP, onlyBytes, opened, PDF, PNG, prose, TAR, WAV } from "./samples.js";
import { zipOf } from "./zip.js";

const PAGES = 'PDF, 114.3 KB, 1 page, title (from the file): "Sales Dashboard"';

const patience = { ...FACTS_PATIENCE };
afterEach(() => void Object.assign(FACTS_PATIENCE, patience));

const file = (bytes: Uint8Array): object => ({
  content: [{ type: "resource", resource: { uri: "file:///x", blob: base64(bytes) } }],
});

const moduleBytes = (): Promise<Buffer> => readFile(new URL("../../../web/src/core/facts.wasm", import.meta.url));

/** A Sluice that takes its facts from a module of its own. */
async function withFacts(facts: WasmSource): Promise<Sluice> {
  return createSluice({ store: "memory", wasm: { core: await compileCore(), facts } });
}

describe("a file's facts", () => {
  test.each([
    ["PDF", PDF, PAGES],
    ["WAV", WAV, "WAV audio, 15.7 KB, 0:01 long"],
    ["tar", TAR, 'tar archive, 2.5 KB, 1 entry, names (from the file): "noise.bin"'],
  ])("are told of a %s on every way", async (_, bytes, told) => {
    const { sluice, store } = await opened();
    const { description } = await sluice.sniff(bytes);
    expect(description).toBe(told);
    using look = await sluice.look();
    for (let at = 0; at < bytes.length; at += 1_000) look.push(bytes.subarray(at, at + 1_000));
    expect(await look.finish()).toMatchObject({ description: told });
    // a block, a string, bytes in place of a value, and a file inside a text that is stored itself
    const note = `${prose(12_000)}data:;base64,${base64(bytes)} ${prose(2_000)}`;
    for (const result of [file(bytes), { a: base64(bytes) }, { a: new Blob([new Uint8Array(bytes)]) }, { note }]) {
      const answer = await sluice.transform(result);
      expect(answer.artifacts.map(({ source }) => source.description)).toContain(told);
      for (const { id } of answer.artifacts) expect(await store.stat(id)).not.toBeNull();
    }
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform(file(bytes), { dialect });
      expect(text).toContain(JSON.stringify(told).slice(1, -1));
      expect((await onlyBytes(store, artifacts)).equals(bytes)).toBe(true);
    }
  });

  test.each([
    [
      "windows-1252",
      "Straße;Größe\nMühlenweg;5\nKönigsallee;6\n",
      'Windows-1252 text, 39 B, first line (from the file): "Straße;Größe"',
    ],
    [
      "shift_jis",
      "品名と値段の一覧です\nりんご、みかん\n",
      'Shift-JIS text, 36 B, first line (from the file): "品名と値段の一覧です"',
    ],
    ["windows-1251", "Привет, мир\nКак дела?\n", 'Windows-1251 text, 22 B, first line (from the file): "Привет, мир"'],
  ])("are told of a text in %s", async (label, text, told) => {
    const { sluice } = await opened();
    const bytes = encodeText(text, label);
    expect((await sluice.sniff(bytes)).description).toBe(told);
    using look = await sluice.look();
    look.push(bytes);
    expect(await look.finish()).toMatchObject({ description: told });
  });

  test.each([undefined, "application/octet-stream", "text/plain", "text/csv"])(
    "are told to the model of a text in an old encoding that is declared as %s",
    async (mimeType) => {
      const { sluice } = await opened();
      const blob = base64(encodeText("品名と値段の一覧です\n".repeat(400), "shift_jis"));
      const document = { content: [{ type: "resource", resource: { uri: "file:///x", mimeType, blob } }] };
      for (const dialect of ["mcp", "observation"] as const) {
        expect((await sluice.transform(document, { dialect })).text).toContain("Shift-JIS text, ");
      }
    },
  );

  test("are not told of bytes that are no text", async () => {
    const { sluice } = await opened();
    const noise = Uint8Array.from({ length: 64 }, (_, at) => 128 + ((at * 37) % 128));
    expect((await sluice.sniff(Uint8Array.of(1, 2, ...noise))).description).toBe("binary data, 66 B");
  });

  test("are told of slides of OpenDocument, which are counted and have no names", { timeout: 10_000 }, async () => {
    const { sluice } = await opened();
    const odp = zipOf({
      mimetype: "application/vnd.oasis.opendocument.presentation",
      "content.xml":
        '<office:document-content><draw:page draw:name="One"></draw:page><draw:page draw:name="Two"></draw:page></office:document-content>',
      "META-INF/manifest.xml": "<manifest:manifest/>",
    });
    expect((await sluice.sniff(odp)).description).toContain("2 slides");
  });

  test("are told of many files of one result, each its own", async () => {
    const { sluice } = await opened();
    const zips = Array.from({ length: 40 }, (_, at) => zipOf({ [`${at}.txt`]: "x".repeat(3_000) }));
    const { artifacts } = await sluice.transform(zips.map((zip) => base64(zip)));
    expect(artifacts.map(({ source }) => /"(.*)"/.exec(source.description ?? "")?.[1])).toEqual(
      zips.map((_, at) => `${at}.txt`),
    );
  });

  test("are told of bytes that came as a text, in the store as well", async () => {
    const { sluice } = await opened();
    // An image of a disk, which begins with 32 KiB of nothing: the gate takes its base64 for a text.
    const disk = Buffer.alloc(40_000);
    disk.write("\u0001CD001", 32_768, "latin1");
    disk.write("BACKUP".padEnd(32), 32_808, "latin1");
    const { artifacts, text } = await sluice.transform(file(disk));
    expect(text).toContain("BACKUP");
    expect(artifacts[0]?.source.description).toBe('disc image, 39.1 KB, volume (from the file): "BACKUP"');
  });
});

describe("the module of facts", () => {
  test("is not loaded for pictures, texts, tables and unknown bytes", async () => {
    const compile = vi.spyOn(WebAssembly, "compile");
    const sluice = await withFacts(await moduleBytes());
    for (const bytes of [
      PNG,
      Buffer.from("id,name\n1,a\n".repeat(2_000)),
      Buffer.from(prose(20_000)),
      Buffer.from("\u0002\u0000\u0001ab"),
    ])
      await sluice.transform(file(bytes));
    const before = compile.mock.calls.length;
    await sluice.transform(file(GZIP));
    expect(compile.mock.calls.length).toBe(before + 1);
    await sluice.transform(file(PDF));
    expect(compile.mock.calls.length).toBe(before + 1);
    compile.mockRestore();
  });

  test.each([
    ["is nowhere", pathToFileURL("/nowhere/facts.wasm")],
    ["is no module", Buffer.from("<!doctype html>")],
    ["is another module", new URL("../../../web/src/core/contract.wasm", import.meta.url)],
  ])("that %s costs the facts alone", async (_, facts) => {
    const sluice = await withFacts(facts);
    const { text, artifacts, failures } = await sluice.transform(file(PDF));
    expect(text).toContain("PDF, 114.3 KB");
    expect(text).not.toContain("1 page");
    expect(failures).toEqual([]);
    expect(artifacts[0]?.source.description).toBe("PDF, 114.3 KB");
    expect(await sluice.sniff(PDF)).toMatchObject({ description: "PDF, 114.3 KB" });
  });

  /** A module that comes when it is let go. */
  async function heldModule(): Promise<{ readonly source: Response; readonly release: () => void }> {
    const bytes = await moduleBytes();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const body = new ReadableStream({
      async pull(controller) {
        await released;
        controller.enqueue(new Uint8Array(bytes));
        controller.close();
      },
    });
    return { source: new Response(body), release };
  }

  test("that does not come is waited for once, and serves later files when it is there", async () => {
    FACTS_PATIENCE.load = 50;
    const { source, release } = await heldModule();
    const sluice = await withFacts(source);
    expect(await sluice.sniff(PDF)).toMatchObject({ description: "PDF, 114.3 KB" });
    const started = performance.now();
    for (let turn = 0; turn < 20; turn += 1) await sluice.sniff(PDF);
    expect(performance.now() - started).toBeLessThan(1_000);
    release();
    await vi.waitFor(async () => expect((await sluice.sniff(PDF)).description).toContain("1 page"));
  });

  test("is not waited for by a call that is aborted", async () => {
    const { source } = await heldModule();
    const sluice = await withFacts(source);
    const caller = new AbortController();
    const answer = sluice.transform(file(PDF), { signal: caller.signal });
    setTimeout(() => caller.abort(new Error("enough")), 20);
    await expect(answer).rejects.toThrow("enough");
  });

  test("is loaded again after a failure, once its time has passed", async () => {
    FACTS_PATIENCE.again = 0;
    const facts = new URL("../../../web/src/core/facts.wasm", import.meta.url);
    const sluice = await withFacts(facts);
    const compile = vi.spyOn(WebAssembly, "compile").mockRejectedValueOnce(new RangeError("no memory"));
    expect(await sluice.sniff(PDF)).toMatchObject({ description: "PDF, 114.3 KB" });
    expect(await sluice.sniff(PDF)).toMatchObject({ description: PAGES });
    compile.mockRestore();
  });

  test("is replaced after a trap", async () => {
    const facts = await moduleBytes();
    const sluice = await withFacts(facts);
    await sluice.sniff(PDF);
    const tooLarge = Object.create(Uint8Array.prototype, { length: { value: 0xffff_fff0 } }) as Uint8Array;
    expect(await tellFacts(tooLarge, facts)).toBeUndefined();
    expect(await tellFacts(new Uint8Array(3), facts)).toBeUndefined();
    expect(await sluice.sniff(PDF)).toMatchObject({ description: PAGES });
  });
});
