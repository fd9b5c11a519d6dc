/** `sluice proxy --listen -- COMMAND`: sessions, those who need none, and what becomes of them. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isRunning } from "../faults/host.js";
import { calling, FIXTURE, listening, messagesOf, modern, post, session, type Serving } from "./proxies.js";

let folder: string;
let proxy: Serving;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-http-"));
  proxy = await listening(["--store", folder, "--namespace", "http", "--", ...FIXTURE]);
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const answerOf = async (response: Promise<Response>): Promise<unknown> => (await messagesOf(await response)).at(-1);

it("gives each session a process of its own, until it is ended", async () => {
  const [one, two] = [await session(proxy.url), await session(proxy.url)];
  expect(one["mcp-session-id"]).not.toBe(two["mcp-session-id"]);
  const crash = answerOf(post(proxy.url, calling(1, "crash"), one));
  expect(await crash).toMatchObject({ id: 1, error: { message: "The server ended before it answered." } });
  expect((await post(proxy.url, calling(2, "text"), one)).status).toBe(404);
  expect(await answerOf(post(proxy.url, calling(2, "text"), two))).toMatchObject({ id: 2, result: {} });
  expect((await fetch(proxy.url, { method: "DELETE", headers: two })).status).toBe(200);
  expect((await post(proxy.url, calling(3, "text"), two)).status).toBe(404);
});

it("is refused without a session, and with one of somebody else's", async () => {
  expect((await post(proxy.url, calling(1, "text"))).status).toBe(400);
  const headers = { ...(await session(proxy.url)), authorization: "Bearer other" };
  expect((await post(proxy.url, calling(1, "text"), headers)).status).toBe(404);
});

it("answers with JSON alone who takes nothing else", async () => {
  const headers = { ...(await session(proxy.url)), accept: "application/json" };
  const response = await post(proxy.url, calling(1, "progress", { steps: 2 }), headers);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({ id: 1, result: {} });
});

it("sends what belongs to a request on its stream, and what belongs to none on the other", async () => {
  const headers = await session(proxy.url);
  const stream = await fetch(proxy.url, { headers: { ...headers, accept: "text/event-stream" } });
  const call = calling(1, "progress", { steps: 2 });
  const params = { ...(call["params"] as object), _meta: { progressToken: "token" } };
  const messages = await messagesOf(await post(proxy.url, { ...call, params }, headers));
  expect(messages.map(({ method, id }) => method ?? id)).toEqual([
    "notifications/progress",
    "notifications/progress",
    1,
  ]);
  await (await post(proxy.url, calling(2, "test_trigger_tool_change"), headers)).text();
  let text = "";
  for await (const chunk of stream.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("notifications/")) break;
  }
  expect(text).toContain("notifications/tools/list_changed");
});

it("takes batches where the revision has them", async () => {
  const headers = { ...(await session(proxy.url)), "mcp-protocol-version": "2025-03-26" };
  const batch = [calling(1, "text", { bytes: 3 }), calling("1", "text", { bytes: 4 })];
  const messages = await messagesOf(await post(proxy.url, batch, headers));
  expect(messages.flat().map(({ id }) => id)).toEqual([1, "1"]);
  expect((await post(proxy.url, [modern(1, "tools/list")[0]], modern(1, "tools/list")[1])).status).toBe(400);
});

it("gives clients that have the same ids and tokens their own answers", async () => {
  const bytes = Array.from({ length: 20 }, (_, index) => index + 1);
  const calls = bytes.map((size) => modern("same", "tools/call", { name: "text", arguments: { bytes: size } }));
  const answers = await Promise.all(calls.map(([message, headers]) => answerOf(post(proxy.url, message, headers))));
  expect(answers).toMatchObject(
    bytes.map((size) => ({
      id: "same",
      result: { content: [{ text: expect.stringMatching(RegExp(`^.{${size}}$`)) as unknown }] },
    })),
  );
});

it("gives progress and subscriptions back under the client's own names", async () => {
  const [call, headers] = modern("c", "tools/call", { name: "progress", arguments: { steps: 2 } });
  const params = call["params"] as Record<string, object>;
  const told = { ...params, _meta: { ...params["_meta"], progressToken: "mine" } };
  const messages = await messagesOf(await post(proxy.url, { ...call, params: told }, headers));
  expect(messages.map((message) => message["params"])).toMatchObject([
    { progressToken: "mine" },
    { progressToken: "mine" },
    undefined,
  ]);
  const abort = new AbortController();
  const [listen, more] = modern("sub", "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const stream = await fetch(proxy.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...more },
    body: JSON.stringify(listen),
    signal: abort.signal,
  });
  const first = await stream.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toContain('"io.modelcontextprotocol/subscriptionId":"sub"');
  abort.abort();
});

it("refuses headers that say something else than the request", async () => {
  const [call, headers] = modern(1, "tools/call", { name: "text" });
  const response = await post(proxy.url, call, { ...headers, "mcp-name": "other" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_020 } });
});

it("refuses a body that is not a message", async () => {
  expect((await post(proxy.url, "{")).status).toBe(400);
  expect((await post(proxy.url, "3")).status).toBe(400);
  expect((await post(proxy.url, calling(1, "x"), { "content-type": "text/plain" })).status).toBe(415);
  expect((await fetch(new URL("/other", proxy.url))).status).toBe(404);
  expect((await fetch(proxy.url, { method: "PUT" })).status).toBe(405);
});

it("sends no message on that is larger than servers take", async () => {
  const headers = await session(proxy.url);
  const large = calling(5, "text", { text: "x".repeat(9 * 1024 * 1024) });
  expect(await answerOf(post(proxy.url, large, headers))).toMatchObject({ id: 5, error: { code: -32_600 } });
});

it("changes nothing where it is told to", async () => {
  await using plain = await listening(["--bypass", "--", ...FIXTURE]);
  const headers = await session(plain.url);
  const answer = await answerOf(post(plain.url, calling(1, "image", { bytes: 30_000 }), headers));
  expect(answer).toMatchObject({ id: 1, result: { content: [{}, { type: "image" }] } });
});

it.each(["SIGTERM", "SIGKILL"] as const)("leaves no process behind that ends by %s", async (signal) => {
  const told = join(folder, signal);
  const command = ["sh", "-c", `echo $$ > "$0"; exec "$@"`, told, ...FIXTURE];
  await using other = await listening(["--store", folder, "--", ...command]);
  await session(other.url);
  const pid = Number(await readFile(told, "utf8"));
  expect(isRunning(pid)).toBe(true);
  other.process.kill(signal);
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
});
