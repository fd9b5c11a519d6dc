/** A question, its answer, and what happens in between. */
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { tool } from "../../../../web/src/planner.js";
import type { ScriptedMessage } from "../../../../web/src/planner/llm/scripted-model.js";
import { CHANGING, listening, program, served } from "../sources/serving.js";
import { refused } from "../visitor.js";
import { asked, calling, chatting, doing, followed, gate, kinds, posted, textOf, visitor } from "./chatting.js";

const hello = doing("hello", () => "hello");

test("what happens comes as it does, then the answer; whoever comes back gets the same, or what they have not", async () => {
  const by = await visitor(chatting(calling("hello"), [hello]));
  const { run, telling } = await asked(by);
  const first = telling.lastId;
  const told = await telling.rest();
  expect(kinds(told).filter((kind) => kind !== "text")).toEqual([
    "step_started",
    "model_answered",
    "tool_called",
    "tool_returned",
    "tool_answered",
    "step_finished",
    "step_started",
    "model_answered",
    "finished",
    "result",
  ]);
  expect(textOf(told)).toBe('They said "hello".');
  const result = told.at(-1);
  expect(result).toMatchObject({
    answer: 'They said "hello".',
    outcome: "answered",
    spent: { steps: 2 },
    trajectory: { query: "Go.", steps: [{ calls: [{ tool: "hello", observation: '"hello"' }] }, {}] },
  });
  expect(await (await followed(by, run, first)).rest()).toEqual(told);
  expect((await (await followed(by, run)).rest()).slice(1)).toEqual(told);
  expect(await (await followed(by, run, telling.lastId)).rest()).toEqual([]);
});

test("text comes in fewer pieces than the model writes", async () => {
  const words = "word ".repeat(2000);
  const by = await visitor(chatting(() => ({ text: words }), []));
  const told = await (await asked(by)).telling.rest();
  expect(textOf(told)).toBe(words);
  expect(told.filter(({ kind }) => kind === "text").length).toBeLessThan(100);
});

test("a client that leaves does not end the run", async () => {
  const wait = gate();
  const by = await visitor(chatting(calling("wait"), [wait.tool]));
  const { run, telling } = await asked(by);
  await wait.called(1);
  await telling[Symbol.asyncDispose]();
  wait.open();
  const told = await (await followed(by, run)).rest();
  expect(told.at(-1)).toMatchObject({ kind: "result", answer: 'They said "waited".' });
  expect(wait.calls()).toBe(1);
});

test("several follow one run", async () => {
  const wait = gate();
  const by = await visitor(chatting(calling("wait"), [wait.tool]));
  const { run, telling } = await asked(by);
  const others = await Promise.all([followed(by, run), followed(by, run)]);
  wait.open();
  const [one, ...all] = await Promise.all([telling.rest(), ...others.map((other) => other.rest())]);
  for (const each of all) expect(each.slice(1)).toEqual(one);
});

test("tools of sources are the model's, and the trace, the conversation and the silence allowed are the run's", async () => {
  const seen: (readonly ScriptedMessage[])[] = [];
  const serving = chatting(
    (turn) => {
      seen.push(turn.messages);
      return turn.last.role === "tool" ? { text: "Done." } : { calls: [{ name: "own_hang", args: {} }] };
    },
    [],
    { sources: [program("own", CHANGING)] },
  );
  const by = await visitor(serving);
  const conversation = [{ query: "What before?", answer: "That before." }];
  const { telling } = await asked(by, "Go.", { conversation, trace: "t", timeout_seconds: 1, max_parallel: 1 });
  const told = await telling.rest();
  const wait = { after_s: 1, is_over: true };
  expect(told.find(({ kind }) => kind === "tool_waiting")).toMatchObject({ tool: "own.hang", wait });
  expect(told.find(({ kind }) => kind === "tool_answered")).toMatchObject({ tool: "own.hang", isError: true });
  expect(JSON.stringify(seen[1])).toContain("Tool execution timed out after 1 second");
  expect(JSON.stringify(seen[0])).toContain("That before.");
});

test("what is stored is told of with its run and in the session, without whose it is, and is there under the trace", async () => {
  const bytes = doing("bytes", () => ({ report: new TextEncoder().encode("a report ".repeat(100)) }));
  const long = doing("long", () => Array.from({ length: 20_000 }, (_, at) => ({ at })));
  const config = { auto_artifact_large_content: false };
  const by = await visitor(chatting(calling("bytes", "long"), [bytes, long], { config }));
  await using session = await listening(by);
  const { telling } = await asked(by, "Go.", { trace: "t1" });
  const told = await telling.rest();
  const [stored] = told.filter(({ kind }) => kind === "artifact_stored") as unknown as [
    { artifacts: [{ id: string }] },
  ];
  expect(stored).toMatchObject({ step: 1, tool: "bytes", artifacts: [{ id: expect.any(String) }] });
  expect(JSON.stringify(told)).not.toMatch(/"scope"|"user_id"|"session_id"/);
  const announced = await session.next("artifact_stored");
  expect(announced).toMatchObject({ artifact: { id: stored.artifacts[0].id }, trace: "t1" });
  expect(await session.next("observation_clamped")).toMatchObject({ tool: "long", original_size: expect.any(Number) });
  const got = await by.ask(`/artifacts/${stored.artifacts[0].id}?trace=t1`);
  expect([got.status, await got.text()]).toEqual([200, "a report ".repeat(100)]);
  expect((await by.ask(`/artifacts/${stored.artifacts[0].id}`)).status).toBe(404);
  await by.end();
});

test("a result that is too large for an event is an artifact, and the answer's beginning is told", async () => {
  const words = "wörds ".repeat(60_000);
  const by = await visitor(chatting(() => ({ text: words }), []));
  const { telling } = await asked(by, "Go.", { trace: "t" });
  const result = (await telling.rest()).at(-1) as unknown as Cut;
  expect(result.trajectory).toBeNull();
  expect(result.answer).toBe(words.slice(0, 32 * 1024));
  const whole = await by.json<Cut>(`/artifacts/${result.artifact.id}?trace=t`);
  expect(whole).toMatchObject({ answer: words, outcome: "answered", trajectory: { query: "Go.", steps: [{}] } });
});

interface Cut {
  readonly answer: string;
  readonly trajectory: object | null;
  readonly artifact: { readonly id: string };
}

test("marked fields are told, without those that JSON has not", async () => {
  const output = z.object({ rows: z.any().meta({ artifact: true }), sum: z.any().meta({ artifact: true }) });
  const add = tool({ name: "add", description: "", input: z.object({}), output, run: () => ({ rows: [1], sum: 1n }) });
  const by = await visitor(chatting(calling("add"), [add]));
  const result = (await (await asked(by)).telling.rest()).at(-1);
  expect(result).toMatchObject({ kind: "result", outcome: "answered" });
  expect(result).toHaveProperty("trajectory.artifacts", { "add.rows": [1] });
});

test("tools are told who asks, and the model is not", async () => {
  const seen: unknown[] = [];
  const who = doing("who", (_, { toolContext }) => void seen.push(toolContext));
  const script = calling("who");
  const turns: string[] = [];
  const serving = chatting(
    (turn) => {
      turns.push(JSON.stringify(turn));
      return script(turn);
    },
    [who],
  );
  const by = await visitor(serving);
  await (await asked(by, "Go.", { trace: "t" })).telling.rest();
  expect(seen).toEqual([{ tenant_id: null, user_id: "ada", session_id: by.id, trace_id: "t" }]);
  expect(turns.join("")).not.toContain(by.id);
});

test("a model that fails ends the run, in words that tell no more than they must", async () => {
  const llm = { model: "m", ask: () => Promise.reject(new Error("at /home/ada/secret")) };
  const { server, errors } = served({ llm });
  const by = await visitor({ server });
  const { run, telling } = await asked(by);
  expect((await telling.rest()).at(-1)).toEqual({
    kind: "failed",
    error: { code: "E_INTERNAL", message: "The server failed: try again." },
  });
  expect(errors).toHaveLength(1);
  expect((await (await followed(by, run)).rest()).at(-1)).toMatchObject({ kind: "failed" });
});

describe("bounds", () => {
  test("of runs at the same time there are no more than the limits say, and each session has its own", async () => {
    const wait = gate();
    const serving = chatting(calling("wait"), [wait.tool], { limits: { runs: 2 } });
    const [ada, eve] = await Promise.all([visitor(serving), visitor(serving, "eve")]);
    const [one, two] = await Promise.all([asked(ada), asked(ada)]);
    const third = await ada.ask("/chat", posted({ query: "Go." }));
    expect(third.headers.get("retry-after")).toBe("5");
    expect(await refused(third)).toEqual([429, "E_RATE_LIMIT"]);
    const hers = await asked(eve);
    wait.open();
    for (const { telling } of [one, two, hers]) expect((await telling.rest()).at(-1)).toMatchObject({ kind: "result" });
    await vi.waitFor(async () => expect((await ada.ask("/chat", posted({ query: "Go." }))).status).toBe(200), {
      timeout: 20_000,
    });
  });

  test.each([
    [{ query: "" }, "query"],
    [{ query: "  " }, "query"],
    [{ query: "x".repeat(32_769) }, "query"],
    [{ query: 7 }, "query"],
    [{ query: "x", conversation: [{ query: "x" }] }, "conversation.0.answer"],
    [{ query: "x", conversation: Array.from({ length: 101 }, () => ({ query: "", answer: "" })) }, "conversation"],
    [{ query: "x", trace: "*" }, "trace"],
    [{ query: "x", max_parallel: 0 }, "max_parallel"],
    [{ query: "x", timeout_seconds: 301 }, "timeout_seconds"],
  ])("%j is refused, and what is wrong is named", async (body, field) => {
    const by = await visitor(chatting(calling(), []));
    const response = await by.ask("/chat", posted(body));
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, "E_INVALID_ARGUMENT"]);
    expect(error.message).toContain(field);
  });

  test("a run that goes on and on comes to the limits of its budget", async () => {
    const serving = chatting(() => ({ calls: [{ name: "hello", args: {} }], text: "More." }), [hello], {
      budget: { maxSteps: 3 },
    });
    const { telling } = await asked(await visitor(serving));
    expect((await telling.rest()).at(-1)).toMatchObject({ kind: "result", outcome: "steps", spent: { steps: 3 } });
  });
});

test("where no model is configured, there is no chat, and that is said", async () => {
  const by = await visitor(served({}));
  for (const [path, init] of [
    ["/chat", posted({ query: "Go." })],
    ["/chat/resume", posted({ resume_token: "x" })],
    [`/chat/${crypto.randomUUID()}`, {}],
  ] as const) {
    const response = await by.ask(path, init);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("no model is configured");
  }
});

test.each([
  ["GET", "/chat", "POST"],
  ["PUT", "/chat/resume", "POST"],
  ["POST", "/chat/x", "GET, HEAD, DELETE"],
])("%s %s is not allowed, and what is, is said", async (method, path, allowed) => {
  const by = await visitor(chatting(calling(), []));
  const response = await by.ask(path, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, allowed]);
});
