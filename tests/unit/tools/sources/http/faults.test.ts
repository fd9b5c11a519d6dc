/** What goes wrong at an API, and on the way to it. */
import { describe, expect, test } from "vitest";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { called, failure, gate, opened, served } from "../api.js";

describe("what goes wrong", () => {
  test.each([
    [429, "E_TOOL_RATE_LIMIT", true],
    [503, "E_TOOL_SERVER", true],
    [401, "E_TOOL_AUTH", false],
    [403, "E_TOOL_AUTH", false],
    [500, "E_TOOL_SERVER", true],
  ])("a status %i, with Retry-After and without the body", async (status, code, isRetryable) => {
    const { source } = await served(
      (url) => ({ get: { url } }),
      (_, response) => response.writeHead(status, { "retry-after": "7" }).end("s3cret body"),
    );
    const error = await failure(called(source, "get"));
    expect(error).toMatchObject({ code, status, isRetryable, retryAfterSeconds: 7 });
    expect(String(error)).not.toContain("s3cret");
  });

  test("a body that breaks off, binary or JSON, leaves nothing behind", async () => {
    for (const type of ["application/pdf", "application/json"]) {
      const { source, store } = await served(
        (url) => ({ get: { url } }),
        (_, response) => {
          response.writeHead(200, { "content-type": type, "content-length": "1000000" });
          response.write(`["${"x".repeat(1000)}`, () => response.destroy());
        },
      );
      expect(await failure(called(source, "get"))).toMatchObject({ code: "E_TOOL_CONNECTION", isRetryable: true });
      for await (const ref of store.list()) throw new Error(`${ref.id} was left behind.`);
    }
  });

  test("nobody there", async () => {
    const { sluice } = await gate();
    const source = httpSource({ name: "api", connection: "http://127.0.0.1:9/utcp", sluice });
    const error = await failure(opened(source));
    expect(error).toMatchObject({ code: expect.stringMatching(/^E_TOOL_CONN/) as string, isRetryable: true });
  });

  test("a call that is given up throws the reason, while waiting and while reading", async () => {
    const { source } = await served(
      (origin) => ({ wait: { url: `${origin}/wait` }, read: { url: `${origin}/read` } }),
      ({ path }, response) => {
        if (path === "/read") response.writeHead(200, { "content-type": "application/pdf" }).write("x");
      },
    );
    for (const tool of ["wait", "read"]) {
      const giving = new AbortController();
      const call = called(source, tool, {}, { signal: giving.signal });
      const reason = new Error("enough");
      setTimeout(() => giving.abort(reason), 100);
      await expect(call).rejects.toBe(reason);
    }
  });

  test("a tool that is not there, and a connection that was closed", async () => {
    const { source } = await served((url) => ({ get: { url } }));
    expect(await failure(called(source, "other"))).toMatchObject({ code: "E_TOOL_CLIENT" });
    await source[Symbol.asyncDispose]();
    expect(source.isOpen).toBe(false);
    expect(await failure(called(source, "get"))).toMatchObject({ code: "E_TOOL_CONNECTION" });
  });

  test.each([
    ["ws://x.example/", "E_TOOL_UNSUPPORTED"],
    ["wss://x.example/?token=s3cret", "E_TOOL_UNSUPPORTED"],
    ["file:///etc/passwd", "E_TOOL_CONFIG"],
    ["https://user:s3cret@x.example", "E_TOOL_CONFIG"],
    ["x.example", "E_TOOL_CONFIG"],
    ["", "E_TOOL_CONFIG"],
    ["{", "E_TOOL_CONFIG"],
  ])("the connection %j", async (connection, code) => {
    const { sluice } = await gate();
    const error = await failure(opened(httpSource({ name: "api", connection, sluice })));
    expect(error).toMatchObject({ code, isRetryable: false });
    expect(String(error)).not.toContain("s3cret");
  });
});
