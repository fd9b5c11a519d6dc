/** MCP servers over HTTP with server-sent events, the transport of 2024-11-05. */
import { describe, expect, it } from "vitest";
import { ToolConnectionError } from "../../../../web/src/tools/errors.js";
import { servingEvents } from "./mcp/events-server.js";
import { call, opened, over, setting } from "./mcp/setting.js";

const bearer = async (): Promise<Record<string, string>> => ({ authorization: "Bearer secret" });

describe("a server of 2024-11-05", () => {
  it.each(["http", "sse"] as const)("is spoken to as it can, asked for %s", async (transport) => {
    await using server = await servingEvents();
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url, transport }), at, { authorize: bearer });
    expect(await connection.tools(new AbortController().signal)).toMatchObject([{ name: "blob" }]);
    const sizes = [30_000, 2_000_000, 40_000];
    const results = await Promise.all(
      sizes.map((size) => call(connection, "blob", { size }, { scope: { user_id: String(size) } })),
    );
    expect(results.map(({ reduced }) => reduced.artifacts.map((ref) => [ref.size_bytes, ref.scope.user_id]))).toEqual(
      sizes.map((size) => [[size, String(size)]]),
    );
    expect(server.tokens).toEqual(new Set(["Bearer secret"]));
  });

  it("whose stream breaks is gone, and says so to whoever waits", async () => {
    await using server = await servingEvents();
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url, transport: "sse" }), at);
    const waiting = call(connection, "blob", { size: -1 }).catch((error: unknown) => error);
    await call(connection, "blob", { size: 100 });
    server.drop();
    expect(await waiting).toBeInstanceOf(ToolConnectionError);
    expect(connection.isOpen).toBe(false);
  });
});
