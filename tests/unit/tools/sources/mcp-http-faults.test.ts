/** MCP servers over HTTP that refuse, break off, are silent, or have gone. */
import { describe, expect, it } from "vitest";
import {
  ToolAuthError,
  ToolConnectionError,
  ToolRateLimitError,
  ToolServerError,
} from "../../../../web/src/tools/errors.js";
import { ERAS, isCall, listening, refuse } from "./mcp/http-server.js";
import { call, opened, over, setting, until } from "./mcp/setting.js";

describe.each(ERAS)("what fails, %s", (era) => {
  it.each([
    [429, ToolRateLimitError],
    [503, ToolServerError],
    [500, ToolServerError],
    [403, ToolAuthError],
  ])("a call answered with %i", async (code, Class) => {
    await using server = await listening(era, (came) =>
      isCall(came) ? refuse(came, code, { "retry-after": "7" }) : false,
    );
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at);
    const failed = await call(connection, "hello").catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Class);
    expect(failed).toMatchObject({ status: code, retryAfterSeconds: 7 });
    expect(String(failed)).not.toContain("secret");
    expect(connection.isOpen).toBe(true);
  });

  const HALF = '"result":{"content":[{"type":"text","text":"half';
  it.each([
    ["a stream that ends before the answer", "text/event-stream", `data: {"jsonrpc":"2.0","id":0,${HALF}`, "end"],
    ["a stream that breaks", "text/event-stream", ": nothing yet\n\n", "destroy"],
    ["an answer that ends before it is complete", "application/json", `{"jsonrpc":"2.0","id":0,${HALF}`, "end"],
    ["an answer that breaks before it is complete", "application/json", `{"jsonrpc":"2.0","id":0,${HALF}`, "destroy"],
  ] as const)("%s", async (_name, type, written, how) => {
    await using server = await listening(era, (came) => {
      if (!isCall(came)) return false;
      came.response.writeHead(200, { "content-type": type });
      came.response.write(written.replace('"id":0', `"id":${came.rpc?.id}`), () => came.response[how]());
      return true;
    });
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at);
    const failed = await call(connection, "hello").catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ToolConnectionError);
    expect((failed as ToolConnectionError).neverSent).not.toBe(true);
  });

  it("a server that is not there, and one that has gone", async () => {
    const at = await setting();
    const server = await listening(era, () => false);
    const source = over(at, { url: server.url });
    await using connection = await opened(source, at);
    await server[Symbol.asyncDispose]();
    await expect(call(connection, "hello")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
    await expect(opened(source, at)).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  });

  it("a server that does not answer, given up", async () => {
    const at = await setting();
    const closed: string[] = [];
    let silent = isCall;
    await using server = await listening(era, (came) => {
      if (!silent(came)) return false;
      came.response.once("close", () => closed.push(String(came.rpc?.method)));
      return true;
    });
    const source = over(at, { url: server.url });
    const connection = await opened(source, at);
    const abort = new AbortController();
    const reason = new Error("enough");
    const asked = call(connection, "hello", {}, { signal: abort.signal });
    await until(() => server.came.find(isCall));
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(await until(() => closed[0])).toBe("tools/call");
    const told = server.came.filter(({ rpc }) => rpc?.method === "notifications/cancelled");
    expect(told).toHaveLength(era === "legacy" ? 1 : 0);
    await connection[Symbol.asyncDispose]();
    silent = () => true;
    const opening = new AbortController();
    const before = server.came.length;
    const failed = opened(source, at, { signal: opening.signal });
    await until(() => server.came[before]);
    opening.abort(reason);
    await expect(failed).rejects.toBe(reason);
  });
});

it("a session that the server has forgotten is an error, and the connection is of no more use", async () => {
  let isForgotten = false;
  await using server = await listening("legacy", (came) => (isForgotten && isCall(came) ? refuse(came, 404) : false));
  const at = await setting();
  await using connection = await opened(over(at, { url: server.url }), at);
  isForgotten = true;
  await expect(call(connection, "hello")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  expect(connection.isOpen).toBe(false);
});

it("what is no MCP server at all is refused as the address says", async () => {
  await using server = await listening("legacy", (came) => refuse(came, 404));
  const at = await setting();
  await expect(opened(over(at, { url: server.url }), at)).rejects.toMatchObject({ code: "E_TOOL_CLIENT", status: 404 });
});
