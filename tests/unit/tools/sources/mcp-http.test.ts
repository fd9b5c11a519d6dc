/** MCP servers over HTTP: who asks, and what goes beside the messages. */
import { describe, expect, it } from "vitest";
import { ToolAuthError, ToolNodeError } from "../../../../web/src/tools/errors.js";
import { answer, ERAS, isCall, listening, refuse } from "./mcp/http-server.js";
import { call, opened, over, setting } from "./mcp/setting.js";

const bearer = async (): Promise<Record<string, string>> => ({ authorization: "Bearer secret" });

describe.each(ERAS)("who asks, %s", (era) => {
  it("is said with every request, as it is at the time", async () => {
    await using server = await listening(era, () => false);
    const at = await setting();
    let token = 0;
    const authorize = async (): Promise<Record<string, string>> => ({ authorization: `Bearer ${(token += 1)}` });
    const connection = await opened(over(at, { url: server.url }), at, { authorize });
    await call(connection, "hello");
    await connection[Symbol.asyncDispose]();
    const said = server.came.map(({ request }) => request.headers.authorization);
    expect(said).not.toContain(undefined);
    expect(new Set(said).size).toBe(said.length);
  });

  it("is not told to another origin", async () => {
    await using other = await listening(era, () => false);
    await using server = await listening(era, (came) =>
      isCall(came) ? refuse(came, 307, { location: other.url }) : false,
    );
    const at = await setting();
    await using connection = await opened(over(at, { url: server.url }), at, { authorize: bearer });
    await expect(call(connection, "hello")).rejects.toThrow(ToolNodeError);
    expect(other.came.map(({ request }) => request.headers.authorization)).not.toContain("Bearer secret");
  });

  it("that is refused is an error, at the start and later, and the connection lives on", async () => {
    let good = "first";
    await using server = await listening(era, (came) =>
      came.request.headers.authorization === good ? false : refuse(came, 401, { "www-authenticate": "Bearer" }),
    );
    const at = await setting();
    let token = "none";
    const authorize = async (): Promise<Record<string, string>> => ({ authorization: token });
    const source = over(at, { url: server.url });
    await expect(opened(source, at, { authorize })).rejects.toThrow(ToolAuthError);
    token = "first";
    await using connection = await opened(source, at, { authorize });
    good = "second";
    const refused = call(connection, "hello");
    await expect(refused).rejects.toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
    await expect(refused).rejects.not.toThrow(/secret/);
    token = "second";
    expect((await call(connection, "hello")).reduced.value).toBe("hello");
    expect(connection.isOpen).toBe(true);
  });

  it("that cannot be said is the error of whoever was to say it", async () => {
    await using server = await listening(era, () => false);
    const at = await setting();
    const reason = new ToolAuthError("Connect the account first.");
    const source = over(at, { url: server.url });
    let failing = true;
    const authorize = async (): Promise<Record<string, string>> => {
      if (failing) throw reason;
      return {};
    };
    await expect(opened(source, at, { authorize })).rejects.toBe(reason);
    failing = false;
    await using connection = await opened(source, at, { authorize });
    failing = true;
    await expect(call(connection, "hello")).rejects.toBe(reason);
  });
});

it("a session is ended with its connection", async () => {
  await using server = await listening("legacy", () => false);
  const at = await setting();
  const connection = await opened(over(at, { url: server.url }), at);
  await connection[Symbol.asyncDispose]();
  const ends = server.came.filter(({ request }) => request.method === "DELETE");
  expect(ends.map(({ request }) => request.headers["mcp-session-id"])).toEqual(["session"]);
});

it("arguments that a tool declares for headers are repeated there", async () => {
  await using server = await listening("modern", (came) => {
    if (came.rpc?.method !== "tools/list") return false;
    const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    answer(came, { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [{ name: "hello", inputSchema }] });
    return true;
  });
  const at = await setting();
  await using connection = await opened(over(at, { url: server.url }), at);
  await connection.tools(new AbortController().signal);
  await call(connection, "hello", { region: "eu" });
  const asked = server.came.find(isCall);
  expect(asked?.request.headers).toMatchObject({ "mcp-param-region": "eu", "mcp-name": "hello" });
  expect(JSON.stringify(asked?.rpc)).not.toContain("sluice/");
});
