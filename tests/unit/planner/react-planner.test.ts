import { describe, expect, test } from "vitest";
import { z } from "zod";
import { limitCalls } from "../../../web/src/planner/call.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import type { LlmMessage, LlmToolCall } from "../../../web/src/planner/llm/client.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import { leading, tool } from "../../../web/src/planner/tool.js";
import { base64, PDF } from "../core/samples.js";
import { add, answered, once, OwnClient, planned } from "./planned.js";

describe("the planner", () => {
  /** Downloads, and hands on what came. */
  const passOn: Script = ({ messages }) => {
    const seen = messages.findLast(({ role }) => role === "tool")?.content;
    if (seen === undefined) return { calls: [{ name: "download", args: {} }] };
    const id = /"id":"([^"]+)"/.exec(seen)?.[1];
    return id === undefined ? { text: "Done." } : { calls: [{ name: "measure", args: { pdf: `artifact://${id}` } }] };
  };

  describe("a run", () => {
    test("calls what the model wants called, tells it the results, and gives its answer", async () => {
      const { planner, turns, events } = planned(
        once({ name: "math_add", args: { a: 1, b: 2 } }, { name: "math_add", args: { a: 3, b: 4 } }),
        [add],
      );
      const { answer, outcome, trajectory } = answered(await planner.run("Add them."));
      expect([answer, outcome]).toEqual(["I saw 2 results.", "answered"]);
      expect(trajectory.steps[0]?.calls.map(({ tool: name, observation }) => [name, observation])).toEqual([
        ["math.add", '{"sum":3}'],
        ["math.add", '{"sum":7}'],
      ]);
      expect(turns[0]?.tools).toEqual(["math_add", "native_artifact_read", "native_artifact_edit"]);
      expect(turns[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
      expect(events.map(({ kind }) => kind).filter((kind) => kind !== "text")).toEqual([
        "step_started",
        "model_answered",
        "tool_called",
        "tool_called",
        "tool_returned",
        "tool_returned",
        "tool_answered",
        "tool_answered",
        "step_finished",
        "step_started",
        "model_answered",
        "finished",
      ]);
    });

    test("bytes that a tool returns go to the store, and the model gets a reference that it can pass on", async () => {
      const given: unknown[] = [];
      const download = tool({
        name: "download",
        description: "",
        input: z.object({}),
        run: () => ({ name: "a", pdf: base64(PDF) }),
      });
      const measure = tool({
        name: "measure",
        description: "",
        input: z.object({ pdf: z.string().meta({ contentEncoding: "base64" }) }),
        run: ({ pdf }) => {
          given.push(pdf);
          return pdf.length;
        },
      });
      const { planner, turns, events } = planned(passOn, [download, measure]);
      const { answer } = answered(await planner.run("Measure it."));
      expect(answer).toBe("Done.");
      expect(given).toEqual([base64(PDF)]);
      expect(JSON.stringify(turns)).not.toContain(base64(PDF).slice(0, 200));
      expect(JSON.stringify(events)).not.toContain(base64(PDF).slice(0, 200));
      expect(events.filter(({ kind }) => kind === "artifact_stored")).toHaveLength(1);
    });

    test("what a tool stores itself, emits and reports", async () => {
      const work = tool({
        name: "work",
        description: "",
        input: z.object({}),
        output: z.object({ ref: z.unknown(), totals: z.array(z.number()).meta({ artifact: true }) }),
        run: async (_, { artifacts, toolContext, emitArtifact, emitChunk, reportProgress }) => {
          reportProgress(1, 2, "half");
          emitArtifact("chart", { kind: "bar" });
          emitChunk("log", "line 1");
          const { id } = await artifacts.upload("a long text", { filename: "a.txt" });
          return { ref: id, totals: [1, 2, 3], secret: (toolContext["secret"] as string).length };
        },
      });
      const { planner, turns, events, store } = planned(once({ name: "work" }), [work]);
      const scope = { user_id: "ada" };
      const { trajectory } = answered(await planner.run("Work.", { scope, toolContext: { secret: "hush" } }));
      expect(trajectory.artifacts).toEqual({ "work.totals": [1, 2, 3] });
      const { ref, totals } = JSON.parse(trajectory.steps[0]?.calls[0]?.observation ?? "") as {
        ref: string;
        totals: unknown;
      };
      expect(totals).toBe("(kept by the planner, not shown)");
      expect(await store.exists(ref, scope)).toBe(true);
      expect(JSON.stringify([turns, trajectory])).not.toContain("hush");
      const kinds = events.map(({ kind }) => kind);
      expect(kinds).toEqual(
        expect.arrayContaining(["tool_progress", "artifact_emitted", "chunk_emitted", "artifact_stored"]),
      );
    });

    test("what goes wrong is told to the model, which goes on", async () => {
      const broken = tool({
        name: "broken",
        description: "",
        input: z.object({}),
        run: () => {
          throw new Error("cannot open /home/ada/secret.txt");
        },
      });
      const { planner, events } = planned(
        once({ name: "broken" }, { name: "math_ad", args: {} }, { name: "math_add", args: { a: "one" } }),
        [broken, add],
      );
      const { answer, trajectory } = answered(await planner.run("Try."));
      expect(answer).toBe("I saw 3 results.");
      const calls = trajectory.steps[0]?.calls ?? [];
      expect(calls.every(({ isError }) => isError)).toBe(true);
      const [first, second, third] = calls.map(({ observation }) => observation);
      expect(first).toContain("failed without an explanation");
      expect(first).not.toContain("secret.txt");
      expect(second).toContain("did you mean math_add?");
      expect(third).toContain("The arguments do not fit");
      expect(events.find(({ kind }) => kind === "tool_failed")).toMatchObject({
        tool: "broken",
        error: { code: "E_TOOL" },
      });
    });
  });

  describe("a run as a stream", () => {
    test("gives what happens, and at its end what came of it", async () => {
      const { planner, events } = planned(once({ name: "math_add", args: { a: 1, b: 2 } }), [add]);
      const stream = planner.stream("Add.");
      const seen: PlannerEvent[] = [];
      let next = await stream.next();
      for (; next.done !== true; next = await stream.next()) seen.push(next.value);
      expect(seen).toEqual(events);
      expect(answered(next.value).answer).toBe("I saw 1 results.");
    });

    test("to stop listening aborts the run", async () => {
      let reason: unknown;
      const wait = tool({
        name: "wait",
        description: "",
        input: z.object({}),
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject((reason = signal.reason) as Error));
          }),
      });
      const { planner } = planned(once({ name: "wait" }), [wait]);
      for await (const { kind } of planner.stream("Wait.")) if (kind === "tool_called") break;
      expect(reason).toMatchObject({ name: "AbortError" });
    });

    test("throws what the run throws, after what it told", async () => {
      const { planner } = planned(() => ({ text: "x" }), [add], {
        llm: { model: "none", ask: () => Promise.reject(new Error("no model")) },
      });
      const kinds: string[] = [];
      const listening = (async () => {
        for await (const { kind } of planner.stream("Go.")) kinds.push(kind);
      })();
      await expect(listening).rejects.toThrow("no model");
      expect(kinds).toEqual(["step_started"]);
    });
  });

  describe("waiting for a person", () => {
    const done: string[] = [];
    const ask = tool({
      name: "ask",
      description: "",
      input: z.object({}),
      run: async (_, { pause }) => {
        const first = await pause("await_input", { question: "Which?" });
        const second = await pause("approval_required", { question: "Sure?" });
        return { first, second };
      },
    });
    const other = tool({ name: "other", description: "", input: z.object({}), run: () => void done.push("other") });

    test("the run pauses, and goes on in another planner; what was done is not done again", async () => {
      done.length = 0;
      const script = once({ name: "ask" }, { name: "other" });
      const kept = new Map<string, string>();
      const stateStore = {
        savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
        loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
      };
      const here = planned(script, [ask, other], { stateStore });
      const first = await here.planner.run("Ask.", { scope: { user_id: "ada" } });
      expect(first).toMatchObject({
        kind: "pause",
        reason: "await_input",
        payload: { question: "Which?" },
        tool: "ask",
      });
      const there = planned(script, [ask, other], { stateStore });
      const token = (first as PlannerPause).resumeToken;
      await expect(there.planner.resume(token, { scope: { user_id: "eve" } })).rejects.toMatchObject({
        code: "E_NOT_FOUND",
      });
      const second = await there.planner.resume(token, { scope: { user_id: "ada" }, answer: { which: "a" } });
      expect(second).toMatchObject({ kind: "pause", reason: "approval_required" });
      const last = await here.planner.resume((second as PlannerPause).resumeToken, {
        scope: { user_id: "ada" },
        answer: true,
      });
      expect(
        answered(last).trajectory.steps[0]?.calls.map(({ observation }) => JSON.parse(observation) as unknown),
      ).toEqual([{ first: { which: "a" }, second: true }, null]);
      expect(done).toEqual(["other"]);
      await expect(here.planner.resume(token, { scope: { user_id: "ada" } })).rejects.toMatchObject({
        code: "E_NOT_FOUND",
      });
    });
  });

  const script = once({ name: "math_add", args: { a: 1, b: 2 } });

  test("what happens in a trace is kept, in order, without what is worth nothing later", async () => {
    const stateStore = new MemoryStateStore();
    const { planner, events } = planned(script, [add], { stateStore });
    answered(await planner.run("Add.", { scope: { user_id: "ada", trace_id: "t1" } }));
    const kept = (await stateStore.loadHistory("t1")).map(({ event }) => event.kind);
    expect(kept).toEqual(events.map(({ kind }) => kind).filter((kind) => kind !== "text"));
    expect(kept).toContain("finished");
  });

  test("nothing is kept of a run without a trace", async () => {
    const saved: unknown[] = [];
    const stateStore = { saveEvent: async (...call: unknown[]) => void saved.push(call) };
    const { planner } = planned(script, [add], { stateStore });
    answered(await planner.run("Add.", { scope: { user_id: "ada" } }));
    expect(saved).toEqual([]);
  });

  test("a store that fails is told of once, and costs the run nothing else", async () => {
    let tries = 0;
    const stateStore = {
      saveEvent: () => {
        tries += 1;
        return Promise.reject(new Error("disk of /home/ada is full"));
      },
    };
    const { planner, events } = planned(script, [add], { stateStore });
    const { answer } = answered(await planner.run("Add.", { scope: { trace_id: "t1" } }));
    expect(answer).toBe("I saw 1 results.");
    // One that is away is waited for once.
    expect(tries).toBe(1);
    const failures = events.filter(({ kind }) => kind === "state_failed");
    expect(failures).toMatchObject([{ error: { code: "E_STORE_WRITE" } }]);
    expect(JSON.stringify(failures)).not.toContain("ada");
  });

  const ask = tool({
    name: "ask",
    description: "",
    input: z.object({ what: z.string() }),
    run: ({ what }, { pause }) => pause(what === "yes" ? "approval_required" : "await_input", { what }),
  });

  const ofKind = (events: readonly PlannerEvent[], kind: PlannerEvent["kind"]): readonly PlannerEvent[] =>
    events.filter((event) => event.kind === kind);

  test("a call that waits has not failed", async () => {
    const { planner, events } = planned(once({ name: "ask", args: { what: "name" } }), [ask]);
    const pause = (await planner.run("Ask.")) as PlannerPause;
    const own = (): readonly string[] => events.map(({ kind }) => kind).filter((kind) => /^(tool_|paused)/.test(kind));
    expect(own()).toEqual(["tool_called", "paused"]);
    answered(await planner.resume(pause.resumeToken, { answer: "Ada" }));
    expect(own()).toEqual(["tool_called", "paused", "tool_called", "tool_returned", "tool_answered"]);
  });

  test("each of several calls that wait is told of, by one token; the first is asked first", async () => {
    const { planner, events } = planned(
      once(
        { name: "ask", args: { what: "name" } },
        { name: "math_add", args: { a: 1, b: 2 } },
        { name: "ask", args: { what: "yes" } },
      ),
      [ask, add],
    );
    const first = (await planner.run("Ask.")) as PlannerPause;
    const token = first.resumeToken;
    expect(first.payload).toEqual({ what: "name" });
    const place = { kind: "paused", step: 1, tool: "ask" };
    expect(ofKind(events, "paused")).toEqual([
      { ...place, call: "call_0", reason: "await_input", token },
      { ...place, call: "call_2", reason: "approval_required", token },
    ]);
    events.length = 0;
    const second = (await planner.resume(token, { answer: "Ada" })) as PlannerPause;
    expect(second.payload).toEqual({ what: "yes" });
    expect(ofKind(events, "paused")).toMatchObject([{ call: "call_2", token: second.resumeToken }]);
    const { trajectory } = answered(await planner.resume(second.resumeToken, { answer: true }));
    expect(trajectory.steps[0]?.calls.map(({ observation }) => observation)).toEqual(['"Ada"', '{"sum":3}', "true"]);
    expect(ofKind(events, "tool_failed")).toEqual([]);
  });
});

/** Turns of clients that hold to nothing: ids of any kind, and as many calls as they like. */
describe("a turn", () => {
  /** Calls of `work`, by their ids. */
  const wanted = (...ids: readonly string[]): readonly LlmToolCall[] =>
    ids.map((id) => ({ id, name: "work", arguments: "{}" }));

  const idsOf = (calls: readonly LlmToolCall[]): readonly string[] => calls.map(({ id }) => id);

  const work = tool({ name: "work", description: "", input: z.object({}), run: () => "done" });
  const ask = tool({
    name: "work",
    description: "",
    input: z.object({}),
    run: (_, { pause, llmContext }) => pause("await_input", llmContext),
  });

  const INHERITED = ["constructor", "__proto__", "toString", "hasOwnProperty"];

  test("ids may be names that every object has", async () => {
    const llm = new OwnClient({ toolCalls: wanted(...INHERITED) });
    const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
    answered(await planner.run("Go."));
    expect(llm.told.map(({ callId, content }) => [callId, content])).toEqual(INHERITED.map((id) => [id, '"done"']));
    expect(events.filter(({ kind }) => kind === "tool_called")).toHaveLength(4);
  });

  test("calls with such ids wait and go on, also where the run was kept as JSON", async () => {
    const kept = new Map<string, string>();
    const stateStore = {
      savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
      loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
    };
    const llm = new OwnClient({ toolCalls: wanted(...INHERITED) });
    const { planner } = planned(() => ({ text: "" }), [ask], { llm, stateStore });
    let outcome = await planner.run("Go.");
    for (const id of INHERITED)
      outcome = await planner.resume((outcome as PlannerPause).resumeToken, { answer: `for ${id}` });
    answered(outcome);
    expect(llm.told.map(({ content }) => content)).toEqual(INHERITED.map((id) => `"for ${id}"`));
  });

  test("each call has an id of its own, whatever the client gives", async () => {
    const llm = new OwnClient({ toolCalls: wanted("a", "a", "", "a_2", "") });
    const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
    const { trajectory } = answered(await planner.run("Go."));
    const ids = ["a", "a_2", "call_2", "a_2_2", "call_4"];
    expect(llm.told.map(({ callId }) => callId)).toEqual(ids);
    expect(llm.messages.find(({ role }) => role === "assistant")).toMatchObject({
      toolCalls: ids.map((id) => ({ id })),
    });
    expect(trajectory.steps[0]?.calls.map(({ id }) => id)).toEqual(ids);
    expect(events.flatMap((event) => (event.kind === "tool_called" ? [event.call] : []))).toEqual(ids);
  });

  test("ids stay short and apart, however long and alike they are", () => {
    const ids = idsOf(limitCalls(wanted(...Array.from({ length: 200 }, () => "x".repeat(1_000))), 200));
    expect(new Set(ids).size).toBe(200);
    expect(Math.max(...ids.map(({ length }) => length))).toBe(256);
  });

  test.each([
    [{}, 256, 44],
    [{ maxStepChars: 1_000 }, 3, 297],
    [{ maxStepChars: 256 }, 1, 299],
  ])("with %j %d of 300 calls are made, and it is told that the others are not", async (options, made, leftOut) => {
    const llm = new OwnClient({ toolCalls: wanted(...Array.from({ length: 300 }, (_, at) => `${at}`)) });
    const { planner, events } = planned(() => ({ text: "" }), [work], { llm, ...options });
    answered(await planner.run("Go."));
    const ids = Array.from({ length: made }, (_, at) => `${at}`);
    expect(llm.told.map(({ callId }) => callId)).toEqual(ids);
    const said = llm.messages.find((message) => message.role === "assistant");
    expect(idsOf(said?.toolCalls ?? [])).toEqual(ids);
    const { role, content } = llm.messages.at(-1) ?? {};
    expect([role, content]).toEqual([
      "user",
      expect.stringContaining(`Of your 300 calls, the first ${made} were made.`),
    ]);
    expect(content).toContain(`The last ${leftOut} were not made`);
    const turns = events.filter(({ kind }) => kind === "model_answered");
    expect(turns).toEqual([
      { kind: "model_answered", step: 1, calls: made, leftOut },
      { kind: "model_answered", step: 2, calls: 0 },
    ]);
  });

  test.each(["as a stream", "as one object"])("a model's server may want 300 calls, %s", async (way) => {
    const asked: LlmMessage[][] = [];
    const toolCalls = Array.from({ length: 300 }, (_, index) => ({
      index,
      id: `c${index}`,
      type: "function",
      function: { name: "work", arguments: "{}" },
    }));
    const answer = (): Response => {
      if (asked.length > 1)
        return Response.json({ choices: [{ message: { content: "Done." }, finish_reason: "stop" }] });
      if (way === "as one object") {
        return Response.json({ choices: [{ message: { tool_calls: toolCalls }, finish_reason: "tool_calls" }] });
      }
      const chunks = toolCalls.flatMap(({ index, id }) => [
        { choices: [{ delta: { tool_calls: [{ index, id, function: { name: "work", arguments: "{" } }] } }] },
        { choices: [{ delta: { tool_calls: [{ index, function: { arguments: "}" } }] } }] },
      ]);
      const end = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
      const events = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
      return new Response(`${events}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
    };
    const llm = new OpenAiClient({
      model: "m",
      baseUrl: "http://model.test/v1",
      fetch: async (_, init) => {
        const { messages } = JSON.parse(init?.body as string) as { messages: LlmMessage[] };
        asked.push(messages);
        return answer();
      },
    });
    const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
    expect(answered(await planner.run("Go.")).trajectory.steps[0]?.calls).toHaveLength(256);
    expect(asked[1]?.at(-1)?.content).toContain("The last 44 were not made");
    expect(events).toContainEqual({ kind: "model_answered", step: 1, calls: 256, leftOut: 44 });
  });

  test("calls that were left out are told also where the run waited meanwhile, and was kept as JSON", async () => {
    const kept = new Map<string, string>();
    const stateStore = {
      savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
      loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
    };
    const llm = new OwnClient({ toolCalls: wanted("1", "2", "3") });
    const options = { llm, stateStore, maxStepChars: 512 };
    const { planner } = planned(() => ({ text: "" }), [ask], options);
    let pause = (await planner.run("Go.")) as PlannerPause;
    pause = (await planner.resume(pause.resumeToken, { answer: "yes" })) as PlannerPause;
    answered(await planner.resume(pause.resumeToken, { answer: "yes" }));
    expect(llm.messages.at(-1)?.content).toContain("Of your 3 calls, the first 2 were made.");
  });

  test("the beginning of a text never ends within a character", () => {
    expect([leading("a😀b", 1), leading("a😀b", 2), leading("a😀b", 3), leading("😀", 9)]).toEqual([
      "a",
      "a",
      "a😀",
      "😀",
    ]);
  });
});
