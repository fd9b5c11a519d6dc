/** Runs that wait for a person: answered once, by whoever they are for. */
import { expect, test } from "vitest";
import { elsewhere, posted } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import { refused } from "../visitor.js";
import { asked, calling, chatting, doing, followed, kinds, resumed, twoChatting, visitor } from "./chatting.js";

const ask = doing("ask", async (_, { pause }) => [
  await pause("await_input", { question: "Which?" }),
  await pause("approval_required", { question: "Sure?" }),
]);
const hello = doing("hello", () => "hello");
const script = calling("ask", "hello");

async function lastOf(telling: Telling): Promise<Told> {
  const last = (await telling.rest()).at(-1);
  if (last === undefined) throw new Error("nothing was told");
  return last;
}

test("a pause is told with what is wanted, and an answer goes on, as often as there are questions", async () => {
  const by = await visitor(chatting(script, [ask, hello]));
  const { run, telling } = await asked(by, "Go.", { trace: "t" });
  const told = await telling.rest();
  const first = told.at(-1);
  expect(first).toEqual({
    kind: "pause",
    reason: "await_input",
    payload: { question: "Which?" },
    tool: "ask",
    resume_token: expect.stringMatching(new RegExp(`^${run}\\.`)),
  });
  expect(told.find(({ kind }) => kind === "paused")).toEqual({
    kind: "paused",
    step: 1,
    call: "call_0",
    tool: "ask",
    reason: "await_input",
  });
  const on = new Telling(await resumed(by, first?.["resume_token"], { which: "a" }));
  expect(await on.next()).toEqual({ kind: "run_resumed", run });
  const second = await lastOf(on);
  expect(second).toMatchObject({ kind: "pause", payload: { question: "Sure?" } });
  const last = await lastOf(new Telling(await resumed(by, second["resume_token"], true)));
  expect(last).toMatchObject({ kind: "result", answer: 'They said [{"which":"a"},true] "hello".' });
  // Whoever comes back later sees all of it.
  const all = await (await followed(by, run)).rest();
  expect(kinds(all).filter((kind) => /^(?:run_|pause$|result)/.test(kind))).toEqual([
    "run_started",
    "pause",
    "run_resumed",
    "pause",
    "run_resumed",
    "result",
  ]);
});

test("whoever comes back while it waits gets the pause, also behind its event", async () => {
  const by = await visitor(chatting(script, [ask, hello]));
  const { run, telling } = await asked(by);
  const pause = await lastOf(telling);
  expect(await lastOf(await followed(by, run))).toEqual(pause);
  expect(await lastOf(await followed(by, run, telling.lastId))).toEqual(pause);
  expect(await lastOf(new Telling(await resumed(by, pause["resume_token"], null)))).toMatchObject({ kind: "pause" });
});

test("an answer counts once, whoever gives it at the same time, here and elsewhere", async () => {
  const [one, other] = twoChatting(script, [
    [ask, hello],
    [ask, hello],
  ]);
  const by = await visitor(one);
  const { resume_token } = (await lastOf((await asked(by)).telling)) as unknown as { resume_token: string };
  const answers = await Promise.all([
    resumed(by, resume_token, "a"),
    resumed(by, resume_token, "b"),
    elsewhere(other, by, "/chat/resume", posted({ resume_token, answer: "c" })),
    elsewhere(other, by, "/chat/resume", posted({ resume_token, answer: "d" })),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
  const accepted = answers.find(({ status }) => status === 200) as Response;
  expect(await lastOf(new Telling(accepted))).toMatchObject({ kind: "pause", payload: { question: "Sure?" } });
  // An answer to the first question is none to the second.
  expect(await refused(await resumed(by, resume_token, "e"))).toEqual([404, "E_NOT_FOUND"]);
});

test("a run that waits can be given up, and goes on no more", async () => {
  const by = await visitor(chatting(script, [ask, hello]));
  const { run, telling } = await asked(by);
  const pause = await lastOf(telling);
  expect((await by.ask(`/chat/${run}`, { method: "DELETE" })).status).toBe(204);
  expect(await lastOf(await followed(by, run, telling.lastId))).toMatchObject({
    kind: "failed",
    error: { code: "E_CANCELLED" },
  });
  expect(await refused(await resumed(by, pause["resume_token"], "a"))).toEqual([404, "E_NOT_FOUND"]);
});

test.each([{}, { resume_token: 7 }, { resume_token: "x".repeat(201) }, { resume_token: "x", more: 1 }])(
  "%j is no answer",
  async (body) => {
    const by = await visitor(chatting(script, [ask]));
    expect(await refused(await by.ask("/chat/resume", posted(body)))).toEqual([400, "E_INVALID_ARGUMENT"]);
  },
);
