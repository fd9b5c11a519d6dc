/** Requests that never leave, where nobody says why: browsers do not. */
import { describe, expect, it } from "vitest";
import type { FetchLike } from "../../../../../web/src/mcp/http/gate-fetch.js";
import { ToolConnectionError } from "../../../../../web/src/tools/errors.js";
import { listening } from "./http-server.js";
import { call, opened, over, setting } from "./setting.js";

/** As browsers fail, when they fail. */
function failing(fails: (headers: Headers) => boolean, cause?: Error): { fetch: FetchLike; asked: string[] } {
  const asked: string[] = [];
  const fetch: FetchLike = async (url, init) => {
    const headers = new Headers(init?.headers);
    asked.push(headers.get("mcp-method") ?? "earlier era");
    if (fails(headers)) throw new TypeError("Failed to fetch", { cause });
    return globalThis.fetch(url, init);
  };
  return { fetch, asked };
}

describe("a request that a browser does not let leave", () => {
  it("with headers of the later era only: the server is spoken to in the earlier one", async () => {
    await using server = await listening("legacy", () => false);
    const at = await setting();
    const { fetch } = failing((headers) => headers.has("mcp-method"));
    await using connection = await opened(over(at, { url: server.url, fetch }), at);
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
  });

  it("in either era is a failed connection", async () => {
    const at = await setting();
    const { fetch, asked } = failing(() => true);
    const refused = opened(over(at, { url: "http://127.0.0.1:9/mcp", fetch }), at);
    await expect(refused).rejects.toThrow(ToolConnectionError);
    expect(asked).toEqual(["server/discover", "earlier era"]);
  });

  it("for a reason that is told is not tried in another way", async () => {
    const at = await setting();
    const { fetch, asked } = failing(() => true, Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
    const refused = opened(over(at, { url: "http://127.0.0.1:9/mcp", fetch }), at);
    await expect(refused).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
    expect(asked).toEqual(["server/discover"]);
  });
});
