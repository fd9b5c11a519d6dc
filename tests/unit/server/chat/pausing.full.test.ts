/** Runs that wait for a person: answered once, by whoever they are for. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import { elsewhere, posted, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import { refused, type Visitor } from "../visitor.js";
import {
  asked,
  calling,
  chatting,
  doing,
  followed,
  gate,
  kinds,
  resumed,
  SECRET,
  textOf,
  twoChatting,
  visitor,
} from "./chatting.js";

describe("pauses", () => {
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

  test("a client that comes back while it waits gets the pause, also behind its event", async () => {
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
});

/** Runs of several sessions and processes: whose they are, and how they move from a process that closes. */
describe("one user's chat and another's", () => {
  const ask = doing("ask", (_, { pause }) => pause("await_input", {}));

  /** All that can be told apart of an answer. */
  async function seen(response: Response): Promise<unknown> {
    return [response.status, Object.fromEntries(response.headers), await response.text()];
  }

  async function sessions(): Promise<readonly [ada: Visitor, again: Visitor, eve: Visitor]> {
    const serving = chatting(calling("ask"), [ask]);
    return [await visitor(serving), await visitor(serving), await visitor(serving, "eve")];
  }

  describe("another session, of somebody else or of the same person,", () => {
    test("does not find a run by its id, whatever it does with it", async () => {
      const [ada, again, eve] = await sessions();
      const { run, telling } = await asked(ada);
      await telling.rest();
      const [lastId, never] = [telling.lastId ?? "", crypto.randomUUID()];
      for (const other of [again, eve]) {
        for (const init of [{}, { headers: { "last-event-id": lastId } }, { method: "DELETE" }]) {
          const nothing = await seen(await other.ask(`/chat/${never}`, init));
          expect(nothing).toMatchObject([404, {}, expect.stringContaining("E_NOT_FOUND")]);
          expect(await seen(await other.ask(`/chat/${run}`, init))).toEqual(nothing);
          expect(await seen(await other.ask("/chat/no-uuid", init))).toEqual(nothing);
        }
      }
      expect((await ada.ask(`/chat/${run}`, { method: "DELETE" })).status).toBe(204);
    });

    test("does not answer its pause", async () => {
      const [ada, again, eve] = await sessions();
      const { telling } = await asked(ada);
      const { resume_token } = (await telling.rest()).at(-1) as unknown as { resume_token: string };
      const never = `${crypto.randomUUID()}.${crypto.randomUUID()}`;
      for (const other of [again, eve]) {
        const nothing = await seen(await resumed(other, never, 1));
        expect(nothing).toMatchObject([404, {}, expect.stringContaining("E_NOT_FOUND")]);
        for (const token of [resume_token, "x", `${resume_token} `]) {
          expect(await seen(await resumed(other, token, 1))).toEqual(nothing);
        }
      }
      expect((await resumed(ada, resume_token, 1)).status).toBe(200);
    });

    test("gives up nothing of it by a call's id", async () => {
      const wait = gate();
      const serving = chatting(calling("wait"), [wait.tool]);
      const [ada, eve] = [await visitor(serving), await visitor(serving, "eve")];
      const { run, telling } = await asked(ada);
      await wait.called(1);
      const path = `/chat/${run}?call=${encodeURIComponent("1 call_0")}`;
      expect((await eve.ask(path, { method: "DELETE" })).status).toBe(404);
      wait.open();
      expect((await telling.rest()).at(-1)).toMatchObject({ answer: 'They said "waited".' });
    });
  });

  test("a client without a session cannot ask, follow or answer", async () => {
    const { server } = chatting(calling("ask"), [ask]);
    const at = (path: string, init: RequestInit): Promise<Response> =>
      server.fetch(new Request(`http://127.0.0.1:8080${path}`, init));
    expect((await at("/chat", posted({ query: "Go." }))).status).toBe(401);
    expect((await at("/chat/resume", posted({ resume_token: "x" }))).status).toBe(401);
    expect((await at(`/chat/${crypto.randomUUID()}`, {})).status).toBe(401);
  });

  const NAMES = ["a", "b", "c"];
  const ANSWER = 'They said "a" "b" "c".';

  test("whenever processes close, the next goes on, the answer comes once, and all that was told is there in its order", async () => {
    let moved = 0;
    const property = fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 3 }), async (stops) => {
      const [state, store] = [memoryState(), new MemoryArtifactStore()];
      const tools = NAMES.map((name) => doing(name, () => sleep(25, name)));
      const opened = (): Serving => chatting(calling(...NAMES), tools, { state, secret: SECRET, store });
      let serving = opened();
      const by = await visitor(serving);
      let telling = new Telling(await by.ask("/chat", posted({ query: "Go." })));
      const told: Told[] = [];
      let run = "";
      for (const stop of [...stops, Infinity]) {
        let event: Told | null = null;
        for (let left = stop; left > 0 && (event = await telling.next()) !== null; left -= 1) {
          told.push(event);
          if (event.kind === "run_started") run = event["run"] as string;
        }
        if (event === null) break;
        await serving.server[Symbol.asyncDispose]();
        serving = opened();
        const headers = { "last-event-id": telling.lastId ?? "" };
        telling = new Telling(await elsewhere(serving, by, `/chat/${run}`, { headers }));
      }
      expect(kinds(told).filter((kind) => kind === "result" || kind === "failed")).toEqual(["result"]);
      expect(told.at(-1)).toMatchObject({ kind: "result", answer: ANSWER, spent: { steps: 4 } });
      expect(textOf(told)).toBe(ANSWER);
      moved += kinds(told).filter((kind) => kind === "text_discarded").length;
      const again = await elsewhere(serving, by, `/chat/${run}`);
      expect(await new Telling(again).rest()).toEqual(told);
    });
    await fc.assert(property, { numRuns: 15 });
    // Otherwise all that was shown is that runs end.
    expect(moved).toBeGreaterThan(5);
  });
});
