import { expect, test } from "vitest";
import { listen, memoryState } from "../../../../web/src/serve.js";
import { timeoutResult } from "../../../../web/src/mcp/wait-notices.js";
import { refused, Visitor } from "../visitor.js";
import {
  called,
  calledOnce,
  CHANGING,
  elsewhere,
  listening,
  posted,
  program,
  served,
  visitor,
} from "../sources/serving.js";
import type { Told } from "../sources/told.js";
import { EVERYTHING } from "../../cli/serve/serving.js";

const SOURCES = [program("own"), program("other", CHANGING, { timeout_s: 1, retry_policy: { max_attempts: 1 } })];

interface Listed {
  readonly tools: readonly { name: string; source: string; description: string; args_schema: { type: string } }[];
  readonly unavailable: readonly { source: string; error: { code: string; message: string } }[];
}

test("the tools of all sources are listed, and why some are not", async () => {
  const { server } = served({ sources: [...SOURCES, program("gone", "/nowhere/at-all")] });
  const ada = await Visitor.of(server, { user: "ada" });
  const { tools, unavailable } = await ada.json<Listed>("/tools");
  const progress = tools.find(({ name }) => name === "own.progress");
  expect(progress).toMatchObject({ source: "own", description: "Reports progress, then answers." });
  expect(progress?.args_schema).toMatchObject({ type: "object" });
  expect(tools.map(({ name }) => name)).toContain("other.echo");
  expect(unavailable).toMatchObject([{ source: "gone", error: { code: "E_TOOL_CONNECTION" } }]);
  expect(JSON.stringify(unavailable)).not.toContain("/nowhere");
});

test("a call tells of its progress, then what came of it", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  await using telling = await called(ada, "own.progress", { steps: 2 });
  const told = await telling.rest();
  expect(told.at(-1)).toEqual({
    kind: "result",
    observation: '"2 steps"',
    artifacts: [],
    is_error: false,
    changed: true,
  });
  expect(told.slice(0, -1).at(-1)).toEqual({ kind: "tool_progress", progress: 2, total: 2, message: "step 2" });
});

test("a client that accepts JSON alone gets one answer", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  const answer = await calledOnce(ada, "own.progress");
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { observation: '"3 steps"', artifacts: [], is_error: false, changed: true },
  ]);
});

test("what is stored is told to the session, without whose it is, and found there alone", async () => {
  const serving = served({ sources: SOURCES });
  const [ada, again] = [await visitor(serving), await visitor(serving)];
  const answer = await calledOnce(ada, "other.pdf");
  const { artifacts } = (await answer.json()) as { artifacts: readonly { id: string; size_bytes: number }[] };
  expect(artifacts).toMatchObject([{ size_bytes: 3009, mime_type: "application/pdf" }]);
  expect(JSON.stringify(artifacts)).not.toMatch(/scope|ada/);
  const id = artifacts[0]?.id ?? "";
  await using events = await listening(ada);
  expect(await events.next("artifact_stored")).toMatchObject({ artifact: { id } });
  expect((await ada.ask(`/artifacts/${id}`)).status).toBe(200);
  expect((await again.ask(`/artifacts/${id}`)).status).toBe(404);
});

test("what is stored under a trace is found under it, and goes with the session", async () => {
  const { server, store } = served({ sources: SOURCES });
  const ada = await Visitor.of(server, { user: "ada" });
  await using telling = await called(ada, "other.pdf", {}, { trace: "run 7" });
  const result = (await telling.next("result")) as Told & { artifacts: readonly { id: string }[] };
  const id = result.artifacts[0]?.id ?? "";
  expect((await ada.ask(`/artifacts/${id}`)).status).toBe(404);
  expect((await ada.ask(`/artifacts/${id}?trace=run%207`)).status).toBe(200);
  expect(await ada.end()).toBe(1);
  expect(await store.exists(id, { user_id: "ada", session_id: ada.id, trace_id: "run 7" })).toBe(false);
});

test("a trace that could be kept as another one is refused", async () => {
  const { server } = served({ sources: SOURCES });
  const ada = await Visitor.of(server, { user: "ada" });
  const headers = { "content-type": "application/json", accept: "application/json" };
  const ask = (trace: string): Promise<Response> =>
    ada.ask("/tools/none.none", { method: "POST", headers, body: JSON.stringify({ trace }) });
  expect(await refused(await ask("half \ud83d"))).toEqual([400, "E_INVALID_ARGUMENT"]);
  expect(await refused(await ask("whole \ud83d\ude00"))).toEqual([404, "E_NOT_FOUND"]);
});

test("a result that is cut is told of", async () => {
  const artifact_extraction = { auto_artifact_large_content: false, guardrail: { max_observation_chars: 2000 } };
  const ada = await visitor(served({ sources: [program("own", CHANGING, { artifact_extraction })] }));
  const answer = await calledOnce(ada, "own.echo", {
    message: JSON.stringify(Array.from({ length: 500 }, () => "word")),
  });
  const { observation, cut } = (await answer.json()) as { observation: string; cut?: { original_chars: number } };
  if (cut === undefined) throw new Error(`nothing was cut of ${observation.length} characters`);
  await using events = await listening(ada);
  expect(await events.next("observation_clamped")).toMatchObject({
    tool: "own.echo",
    original_size: cut.original_chars,
    clamped_size: observation.length,
  });
});

test("what a tool says of its failure is a result", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  expect(await (await calledOnce(ada, "other.fail")).json()).toMatchObject({ is_error: true });
});

test.each([
  ["a source that there is not", "nowhere.echo", 404, "E_NOT_FOUND"],
  ["a tool that the source has not", "other.nothing", 404, "E_NOT_FOUND"],
  ["a name without a source", "echo", 404, "E_NOT_FOUND"],
  ["a name that is long", `other.${"x".repeat(10_000)}`, 404, "E_NOT_FOUND"],
  ["a name with NUL in it", "other.\0", 404, "E_NOT_FOUND"],
  ["a source that dies in the middle of a call", "other.die", 502, "E_TOOL_CONNECTION"],
  ["a source that fails", "own.protocol_error", 502, "E_TOOL_SERVER"],
])("%s is an error with its own code", async (_, name, status, code) => {
  const ada = await visitor(served({ sources: SOURCES }));
  expect(await refused(await calledOnce(ada, name))).toEqual([status, code]);
  await using telling = await called(ada, name);
  expect(await telling.rest()).toMatchObject([{ kind: "failed", error: { code } }]);
});

test("a source that hangs is told of as it waits, and its call ends with a result that says so", async () => {
  const sources = [program("other", CHANGING, { timeout_s: 1, notify_after_s: [0.3, 10, 20] })];
  const ada = await visitor(served({ sources }));
  const observation = JSON.stringify(timeoutResult(1, null));
  expect(await (await calledOnce(ada, "other.hang")).json()).toMatchObject({ observation, is_error: true });
  await using telling = await called(ada, "other.hang");
  expect(await telling.rest()).toMatchObject([
    { kind: "tool_waiting", after_s: 0.3, is_over: false },
    { kind: "tool_waiting", after_s: 1, is_over: true },
    { kind: "result", observation, is_error: true },
  ]);
});

test("a source that died in the middle of a call is started again for the next", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  expect((await calledOnce(ada, "other.die")).status).toBe(502);
  expect(await (await calledOnce(ada, "other.echo", { message: "hello" })).json()).toMatchObject({
    observation: '"hello"',
  });
});

test.each([
  ["no JSON", "{", "E_INVALID_ARGUMENT"],
  ["arguments that are a list", '{"args":[]}', "args"],
  ["a member that there is not", '{"arguments":{}}', "E_INVALID_ARGUMENT"],
  ["a time that is too long", '{"args":{},"timeout_seconds":301}', "timeout_seconds"],
  ["a trace that names all", '{"args":{},"trace":"*"}', "trace"],
])("%s is refused, and named", async (_, body, named) => {
  const ada = await visitor(served({ sources: SOURCES }));
  const answer = await ada.ask("/tools/other.echo", { ...posted({}), body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(named);
});

test("the call of a client that leaves is cancelled at the source", async () => {
  const ada = await visitor(served({ sources: [program("other", CHANGING)] }));
  const telling = await called(ada, "other.hang");
  const waiting = telling.next();
  await calledOnce(ada, "other.echo");
  await telling[Symbol.asyncDispose]();
  await waiting.catch(() => undefined);
  await expect
    .poll(
      async () => ((await (await calledOnce(ada, "other.cancelled")).json()) as { observation: string }).observation,
    )
    .toBe('"1"');
});

test("a call ends with its session", async () => {
  const ada = await visitor(served({ sources: [program("other", CHANGING)] }));
  await using telling = await called(ada, "other.hang");
  const last = telling.rest();
  await calledOnce(ada, "other.echo");
  await ada.end();
  expect(await last).toMatchObject([{ kind: "failed", error: { code: "E_SESSION" } }]);
});

test("a call that waits for a person ends with its session, in whichever process that is ended", async () => {
  const state = memoryState();
  const secret = "a secret of thirty-two characters";
  const first = served({ sources: [program("own")], state, secret });
  const second = served({ state, secret });
  const ada = await visitor(first);
  const asked = await called(ada, "own.test_input_required_result_elicitation");
  const { pause } = (await asked.next("paused")) as Told & { pause: string };
  await elsewhere(second, ada, "/sessions/current", { method: "DELETE" });
  expect(pause).toMatch(/^[\w-]{22}$/);
  expect(await asked.rest()).toMatchObject([{ kind: "failed", error: { code: "E_SESSION" } }]);
});

test("a call ends with its server, which says so", async () => {
  const { server } = served({ sources: [program("other", CHANGING)] });
  const ada = await Visitor.of(server, { user: "ada" });
  await using telling = await called(ada, "other.hang");
  const last = telling.rest();
  await calledOnce(ada, "other.echo");
  await server[Symbol.asyncDispose]();
  expect(await last).toMatchObject([{ kind: "failed", error: { code: "E_STORE_CLOSED" } }]);
});

test("over a real connection, too, the call of somebody who leaves is given up at the source", async () => {
  const { server } = served({ sources: [program("other", CHANGING)] });
  await using listener = await listen(server, { host: "127.0.0.1", port: 0 });
  const ada = await Visitor.at(listener.port, { user: "ada" });
  for (const accept of ["application/json", "text/event-stream"]) {
    const left = new AbortController();
    const headers = { "content-type": "application/json", accept, authorization: `Bearer ${ada.token}` };
    const at = `http://127.0.0.1:${listener.port}/tools/other.hang`;
    const given = fetch(at, { method: "POST", body: "{}", headers, signal: left.signal });
    const read = given.then((response) => response.text());
    await calledOnce(ada, "other.echo");
    left.abort();
    await expect(read).rejects.toMatchObject({ name: "AbortError" });
  }
  await expect.poll(async () => (await calledOnce(ada, "other.cancelled")).text()).toContain('\\"2\\"');
});

// Arguments that a tool does not take: whoever called is told, in a result or as an error, and the source goes on.

test.each([
  ["of another type", { message: 7 }],
  ["that are missing", {}],
])("arguments %s are a result that says so, where the server answers with one", async (_, args) => {
  const connection = EVERYTHING.map((word) => `"${word}"`).join(" ");
  const ada = await visitor(served({ sources: [program("every", connection)] }));
  const answer = await calledOnce(ada, "every.echo", args);
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { is_error: true, artifacts: [], observation: expect.stringContaining("message") as string },
  ]);
  expect(await (await calledOnce(ada, "every.echo", { message: "hello" })).json()).toMatchObject({ is_error: false });
});

test("arguments that the protocol refuses are an error of whoever called, with the server's reason", async () => {
  const serving = served({ sources: [program("own")] });
  const ada = await visitor(serving);
  const answer = await calledOnce(ada, "own.protocol_error", { code: -32_602, message: "city must be Oslo" });
  expect(await answer.clone().text()).toContain("city must be Oslo");
  expect(await refused(answer)).toEqual([400, "E_TOOL_CLIENT"]);
  expect(serving.errors).toEqual([]);
  expect((await calledOnce(ada, "own.progress")).status).toBe(200);
});
