/** Compiling the core as browsers do: over HTTP, from a server that may know nothing of WebAssembly. */
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { compileCore } from "../../../web/src/core/compile-web.js";

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
  const error: unknown = await compileCore(source).then(
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
      expect(isTheCore(await compileCore(server.url))).toBe(true);
    },
  );

  test("an answer in hand, with and without the right type", async () => {
    for (const headers of [{ "content-type": "application/wasm" }, undefined]) {
      const response = new Response(new Uint8Array(CORE), headers === undefined ? {} : { headers });
      expect(isTheCore(await compileCore(response))).toBe(true);
    }
  });

  test("bytes in hand", async () => {
    expect(isTheCore(await compileCore(new Uint8Array(CORE)))).toBe(true);
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
