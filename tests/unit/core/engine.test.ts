import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { compileCore } from "../../../web/src/core/compile-node.js";
import { compileCore as compileOnWeb } from "../../../web/src/core/compile-web.js";
import createCoreModule from "../../../web/src/core/core.mjs";
import { corePool, type Engine, type EnginePool } from "../../../web/src/core/engine.js";
import { createSluice } from "../../../web/src/index.js";
import { base64, PDF, opened } from "./samples.js";

async function pool(): Promise<EnginePool> {
  return corePool(await compileCore(), "{}");
}

const OUT_OF_MEMORY = 0xffff_fff0;

/** Asks for more memory than WebAssembly has: the core aborts, as it would on any failure of its own. */
function trap(engine: Engine): void {
  engine.call("input", OUT_OF_MEMORY);
}

function storedWhole(engine: Engine): void {
  engine.give("{}");
  engine.call("storedWhole");
}

describe("after a trap", () => {
  test("the error is coded, tells the remedy and keeps the cause", async () => {
    const engine = await (await pool()).take();
    let error: unknown;
    try {
      trap(engine);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "E_CORE_TRAP", message: expect.stringContaining("pass it on as it is") });
    expect((error as Error).cause).toBeDefined();
  });

  test("the instance is never used again, and another takes its place", async () => {
    const engines = await pool();
    const broken = await engines.take();
    expect(broken.reusable).toBe(true);
    expect(() => trap(broken)).toThrow(expect.objectContaining({ code: "E_CORE_TRAP" }));
    expect(broken.reusable).toBe(false);
    expect(() => broken.call("policy")).toThrow(expect.objectContaining({ code: "E_CORE_TRAP" }));
    engines.release(broken);
    const next = await engines.take();
    expect(next).not.toBe(broken);
    expect(JSON.parse(next.ask("policy"))).toMatchObject({ inlineTextUnderChars: 10_000 });
  });

  test("a use after delete is a trap as well", async () => {
    const engine = await (await pool()).take();
    engine.call("delete");
    expect(() => engine.call("policy")).toThrow(expect.objectContaining({ code: "E_CORE_TRAP" }));
    expect(engine.reusable).toBe(false);
  });

  test("a whole transform fails with the code, and the next one works", async () => {
    const { sluice } = await opened();
    // a chunk that claims to be larger than memory
    const stream = sluice.open();
    await stream.write(Buffer.from('{"a":'));
    const lying = Object.create(Uint8Array.prototype, {
      length: { value: 1 },
      subarray: { value: () => ({ length: OUT_OF_MEMORY }) },
    }) as Uint8Array;
    await expect(stream.write(lying)).rejects.toMatchObject({ code: "E_CORE_TRAP" });
    await expect(stream.close()).rejects.toMatchObject({ code: "E_CORE_TRAP" });
    await stream[Symbol.asyncDispose]();
    const { artifacts } = await sluice.transform({ pdf: base64(PDF) });
    expect(artifacts[0]?.size_bytes).toBe(PDF.length);
  });
});

test("a core that cannot be replaced at once is replaced by a later call", async () => {
  const { sluice } = await opened();
  const tooLarge = Object.create(Uint8Array.prototype, { length: { value: OUT_OF_MEMORY } }) as Uint8Array;
  const trapped = expect.objectContaining({ code: "E_CORE_TRAP" }) as Error;
  const instantiate = vi.spyOn(WebAssembly, "instantiate").mockRejectedValueOnce(new RangeError("no memory"));
  await expect(sluice.sniff(tooLarge)).rejects.toThrow(trapped);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(instantiate).toHaveBeenCalledTimes(1);
  await expect(sluice.sniff(PDF)).rejects.toThrow(trapped);
  await vi.waitFor(async () => expect((await sluice.sniff(PDF)).mime_type).toBe("application/pdf"));
  instantiate.mockRestore();
});

describe("the pool", () => {
  test("lends an engine to one holder at a time", async () => {
    const engines = await pool();
    const [one, other] = [await engines.take(), await engines.take()];
    expect(one).not.toBe(other);
    engines.release(one);
    expect(await engines.take()).toBe(one);
  });

  test("keeps no more than four that are idle", async () => {
    const engines = await pool();
    const all = [];
    for (let n = 0; n < 6; n++) all.push(await engines.take());
    for (const engine of all) engines.release(engine);
    for (let n = 0; n < 4; n++) expect(all).toContain(await engines.take());
    expect(all).not.toContain(await engines.take());
  });

  test("drops an engine whose memory has grown beyond 64 MiB", async () => {
    const engines = await pool();
    const engine = await engines.take();
    engine.call("input", 80 * 1024 * 1024);
    expect(engine.reusable).toBe(false);
    engines.release(engine);
    expect(await engines.take()).not.toBe(engine);
    expect(JSON.parse(engine.ask("policy"))).toHaveProperty("cacheReads");
  });

  test("refuses a configuration that is wrong with every engine it makes", async () => {
    const engines = corePool(await compileCore(), '{"nope":1}');
    for (let n = 0; n < 2; n++)
      await expect(engines.take()).rejects.toMatchObject({ code: "E_CONFIG_KEY", path: "nope" });
  });
});

describe("out of order", () => {
  test.each([
    ["finish before begin", "E_MISUSE", (engine: Engine) => engine.call("finish")],
    ["push before begin", "E_MISUSE", (engine: Engine) => engine.call("push", engine.call("body", 2).length)],
    ["storedWhole before storeWhole", "E_MISUSE", (engine: Engine) => storedWhole(engine)],
    ["render before plan", "E_MISUSE", (engine: Engine) => engine.call("render")],
  ])("%s is told, and breaks nothing", async (_, code, call) => {
    const engine = await (await pool()).take();
    expect(() => call(engine)).toThrow(expect.objectContaining({ code }));
    expect(engine.reusable).toBe(true);
    expect(() => engine.call("report")).not.toThrow();
  });

  test("looks at segments, tasks and forms that are not there break nothing", async () => {
    const engine = await (await pool()).take();
    engine.call("segment", 7, 70);
    engine.call("tasks");
    engine.call("refs");
    engine.call("report");
    engine.call("beginDecode", 7);
    engine.call("decode");
    engine.call("endDecode");
    engine.call("link", 7);
    engine.call("reference", 7);
    engine.call("referenceNote", 7, 0);
    engine.call("clearEvents");
    engine.call("writeForm");
    engine.call("closeForm");
    engine.call("nextPiece");
    engine.call("storeWhole");
    engine.give('{"segment":99,"id":"x"}');
    engine.call("stored");
    expect(engine.reusable).toBe(true);
  });
});

test("core.d.mts lists the methods that the module has, and no others", async () => {
  const compiled = await compileCore();
  const made = await createCoreModule({
    instantiateWasm: (imports, receive) => {
      void WebAssembly.instantiate(compiled, imports as WebAssembly.Imports).then(receive);
      return {};
    },
    locateFile: (name) => name,
    print: () => undefined,
    printErr: () => undefined,
  });
  const text = await readFile(new URL("../../../web/src/core/core.d.mts", import.meta.url), "utf8");
  const [, declared = ""] = /export interface Core \{([\s\S]*?)\n\}/.exec(text) ?? [];
  const written = [...declared.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name);
  const prototype = made.Core.prototype as object;
  const bound = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
  // every handle of Embind has `delete` from a class above
  expect(new Set(written)).toEqual(new Set([...bound, "delete"]));
  expect(typeof new made.Core().delete).toBe("function");
  expect(written).toHaveLength(bound.length + 1);
});

describe("loading", () => {
  test.each([
    ["bytes that are no module", new Uint8Array([1, 2, 3])],
    ["a file that is not there", new URL("file:///nowhere/core.wasm")],
    ["half a module", new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0])],
  ])("%s is an error of loading", async (_, wasm) => {
    await expect(createSluice({ wasm, store: new MemoryArtifactStore() })).rejects.toMatchObject({
      code: "E_CORE_LOAD",
    });
  });

  test("takes the module as bytes, as a response, as a URL and compiled", async () => {
    const url = new URL("../../../web/src/core/core.wasm", import.meta.url);
    const bytes = new Uint8Array(await readFile(url));
    for (const wasm of [bytes, new Response(bytes), url, await WebAssembly.compile(bytes)]) {
      const sluice = await createSluice({ wasm, store: new MemoryArtifactStore() });
      expect((await sluice.transform([1])).value).toEqual([1]);
    }
  });
});

test("reads its own file where Next.js puts an address of the site in place of the file's", async () => {
  const site = Object.create(new URL("file:///core.wasm"), {
    pathname: { value: "/_next/static/media/core.3_eose8q7-_av.wasm" },
  }) as URL;
  expect(isTheCore(await compileCore(site))).toBe(true);
});

// Compiling the core as browsers do: over HTTP, from a server that may know nothing of WebAssembly.

const CORE = await readFile(new URL("../../../web/src/core/core.wasm", import.meta.url));

/** A server on this machine, gone after the test. */
async function serving(answer: RequestListener): Promise<{ readonly url: URL } & AsyncDisposable> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/core.wasm`),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const withType =
  (type: string, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "content-type": type }).end(CORE);
  };

const isTheCore = (module: WebAssembly.Module): boolean =>
  WebAssembly.Module.exports(module).some(({ kind }) => kind === "memory");

async function refused(source: URL | Response | BufferSource): Promise<Error> {
  const error: unknown = await compileOnWeb(source).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "E_CORE_LOAD", message: expect.stringContaining("pass its URL or bytes") });
  return (error as Error).cause as Error;
}

describe("the core is compiled from", () => {
  test.each(["application/wasm", "application/wasm; charset=binary", "application/octet-stream", "text/plain"])(
    "a URL whose server calls it %s",
    async (type) => {
      await using server = await serving(withType(type));
      expect(isTheCore(await compileOnWeb(server.url))).toBe(true);
    },
  );

  test("an answer in hand, with and without the right type", async () => {
    for (const headers of [{ "content-type": "application/wasm" }, undefined]) {
      const response = new Response(new Uint8Array(CORE), headers === undefined ? {} : { headers });
      expect(isTheCore(await compileOnWeb(response))).toBe(true);
    }
  });

  test("bytes in hand", async () => {
    expect(isTheCore(await compileOnWeb(new Uint8Array(CORE)))).toBe(true);
  });
});

describe("E_CORE_LOAD, with the remedy and the cause, for", () => {
  test("an answer that is no success, whatever it holds", async () => {
    await using server = await serving(withType("application/wasm", 404));
    expect((await refused(server.url)).message).toBe("status 404");
  });

  test("a page in the module's place, as servers of single-page applications send", async () => {
    await using server = await serving((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>app</title>");
    });
    expect(await refused(server.url)).toBeInstanceOf(WebAssembly.CompileError);
  });

  test("a module cut short, streamed or not", async () => {
    for (const type of ["application/wasm", "application/octet-stream"]) {
      await using server = await serving((_, response) => {
        response.writeHead(200, { "content-type": type }).end(CORE.subarray(0, CORE.length / 2));
      });
      expect(await refused(server.url)).toBeInstanceOf(WebAssembly.CompileError);
    }
    expect(await refused(new Uint8Array(CORE.subarray(0, 100)))).toBeInstanceOf(WebAssembly.CompileError);
  });

  test.each(["contract", "facts", "pdf", "tables"])("another module of ours: %s", async (name) => {
    const wasm = await readFile(new URL(`../../../web/src/core/${name}.wasm`, import.meta.url));
    await expect(createSluice({ store: "memory", wasm })).rejects.toMatchObject({
      code: "E_CORE_LOAD",
      message: expect.stringContaining("take both from one version") as string,
    });
  });

  test("a server that is not there", async () => {
    const { url } = await gone();
    expect(await refused(url)).toBeInstanceOf(TypeError);
  });
});

/** An address where nobody listens any more. */
async function gone(): Promise<{ readonly url: URL }> {
  await using server = await serving(withType("application/wasm"));
  return { url: server.url };
}
