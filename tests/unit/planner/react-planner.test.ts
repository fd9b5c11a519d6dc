import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai/client.js";
import { scriptedModel, type Script, type ScriptedTurn } from "../../../web/src/planner/llm/scripted-model.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import { ReactPlanner, type ReactPlannerOptions } from "../../../web/src/planner/react-planner.js";
import type { PlannerPause, PlannerResult } from "../../../web/src/planner/result.js";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";
import { base64, PDF } from "../core/samples.js";

const chars = (text: string): number => Array.from(text).length;
const LIMIT = 50_000;

interface Planned {
  readonly planner: ReactPlanner;
  readonly store: MemoryArtifactStore;
  readonly events: PlannerEvent[];
  /** What the model was asked, turn by turn. */
  readonly turns: ScriptedTurn[];
}

/** A planner over a script, by the real client. */
function planned(script: Script, catalog: readonly NativeTool[], options: Partial<ReactPlannerOptions> = {}): Planned {
  const [events, turns]: [PlannerEvent[], ScriptedTurn[]] = [[], []];
  const answer = scriptedModel((turn) => {
    turns.push(turn);
    return script(turn);
  });
  const llm = new OpenAiClient({
    model: "scripted",
    baseUrl: "http://model.test/v1",
    fetch: (input, init) => answer(new Request(input, init)),
  });
  const store = new MemoryArtifactStore();
  const planner = new ReactPlanner({
    catalog,
    llm,
    artifactStore: store,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { planner, store, events, turns };
}

/** Calls these once, then says what it was told. */
function once(...calls: readonly { readonly name: string; readonly args?: Record<string, unknown> }[]): Script {
  return ({ messages }) => {
    if (messages.at(-1)?.role !== "tool") return { calls: calls.map(({ name, args = {} }) => ({ name, args })) };
    return { text: `I saw ${messages.filter(({ role }) => role === "tool").length} results.` };
  };
}

function answered(outcome: PlannerResult | PlannerPause): PlannerResult {
  if (outcome.kind !== "result") throw new Error("it waits");
  return outcome;
}

const add = tool({
  name: "math.add",
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});

/** Downloads, and hands on what came. */
const passOn: Script = ({ messages }) => {
  const seen = messages.findLast(({ role }) => role === "tool")?.content;
  if (seen === undefined) return { calls: [{ name: "download", args: {} }] };
  const id = /"id":"([^"]+)"/.exec(seen)?.[1];
  return id === undefined ? { text: "Done." } : { calls: [{ name: "measure", args: { pdf: `artifact://${id}` } }] };
};

/** Calls a tool for as long as there is one. */
const again: Script = ({ tools }) =>
  tools.length === 0 ? { text: "So far." } : { calls: [{ name: "math_add", args: { a: 1, b: 1 } }] };

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
    expect(turns[0]?.tools).toEqual(["math_add", "native_artifact_read"]);
    expect(turns[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
    expect(events.map(({ kind }) => kind).filter((kind) => kind !== "text")).toEqual([
      "step_started",
      "model_answered",
      "tool_called",
      "tool_called",
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
    expect(first).toContain("failed in a way that it does not explain");
    expect(first).not.toContain("secret.txt");
    expect(second).toContain("did you mean math.add?");
    expect(third).toContain("The arguments do not fit");
    expect(events.find(({ kind }) => kind === "tool_failed")).toMatchObject({
      tool: "broken",
      error: { code: "E_TOOL" },
    });
  });
});

describe("no tool can flood the model", () => {
  const ways = fc.constantFrom<() => unknown>(
    () => "x".repeat(3_000_000),
    () => base64(PDF).repeat(3),
    () => Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: `row ${at}` })),
    () => JSON.parse("[".repeat(200) + "1" + "]".repeat(200)) as unknown,
    () => Array.from({ length: 30 }, () => base64(PDF)),
    () => ({ content: [{ type: "text", text: "😀".repeat(60_000) }] }),
    () => 7,
    () => {
      throw new TypeError("y".repeat(2_000_000));
    },
  );

  test("whatever it returns, alone or a hundred times in parallel", async () => {
    const property = fc.asyncProperty(
      fc.array(ways, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(1, 3, 100),
      async (made, times) => {
        const any = tool({
          name: "any",
          description: "",
          input: z.object({ at: z.number() }),
          run: ({ at }) => (made[at % made.length] as () => unknown)(),
        });
        const calls = Array.from({ length: times }, (_, at) => ({ name: "any", args: { at } }));
        const { planner, turns } = planned(once(...calls), [any]);
        answered(await planner.run("Go."));
        const told = turns.flatMap(({ messages }) => messages).filter(({ role }) => role === "tool");
        expect(told.length).toBe(times);
        for (const { content } of told) {
          expect(chars(content)).toBeLessThanOrEqual(LIMIT);
          expect(() => JSON.parse(content) as unknown).not.toThrow();
        }
        expect(told.reduce((sum, { content }) => sum + chars(content), 0)).toBeLessThanOrEqual(100_000);
      },
    );
    await fc.assert(property, { numRuns: 12 });
  });

  test("a tool's own limit, below the guardrail's and above it; what is cut can be read back", async () => {
    const long = { text: Array.from({ length: 9_000 }, (_, at) => `word${at}`).join(" ") };
    const config = {
      auto_artifact_large_content: false,
      guardrail: { max_observation_chars: 1_000, max_field_chars: 1_000_000 },
    };
    const make = (name: string, maxObservationChars?: number): NativeTool =>
      tool({
        name,
        description: "",
        input: z.object({}),
        run: () => ({ name, ...long }),
        ...(maxObservationChars !== undefined && { maxObservationChars }),
      });
    const { planner, store } = planned(
      once({ name: "short" }, { name: "usual" }, { name: "long" }),
      [make("short", 500), make("usual"), make("long", 90_000)],
      { config },
    );
    const calls = answered(await planner.run("Go.")).trajectory.steps[0]?.calls ?? [];
    const sizes = calls.map(({ observation }) => chars(observation));
    expect(sizes[0]).toBeLessThanOrEqual(500);
    expect(sizes[1]).toBeLessThanOrEqual(1_000);
    expect(calls[2]?.observation === JSON.stringify({ name: "long", ...long })).toBe(true);
    const id = calls[0]?.artifacts[0]?.id ?? "";
    expect(JSON.parse(new TextDecoder().decode((await store.get(id)) ?? undefined))).toEqual({
      name: "short",
      ...long,
    });
  });

  test("the same content is told once", async () => {
    const same = tool({
      name: "same",
      description: "",
      input: z.object({ n: z.number() }),
      run: () => "a text of some length, ".repeat(40),
    });
    const { planner, events } = planned(once({ name: "same", args: { n: 1 } }, { name: "same", args: { n: 2 } }), [
      same,
    ]);
    const calls = answered(await planner.run("Go.")).trajectory.steps[0]?.calls ?? [];
    expect(calls[1]?.observation).toBe('"The same as the result of same in step 1."');
    expect(events.filter(({ kind }) => kind === "observation_clamped")).toMatchObject([{ method: "repeated" }]);
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

  test("whoever stops listening gives the run up", async () => {
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

test("what the model wrote itself does not flood it either", async () => {
  const long = { a: 1, b: 2, note: "x".repeat(200_000) };
  const { planner, turns } = planned(once({ name: "math_add", args: long }), [add]);
  answered(await planner.run("Add."));
  expect(JSON.stringify(turns).length).toBeLessThan(20_000);
});

describe("limits of a run", () => {
  test("in its last step the model gets no tools, and answers", async () => {
    const { planner } = planned(again, [add], { budget: { maxSteps: 3 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({
      answer: "So far.",
      outcome: "steps",
      spent: { steps: 3 },
    });
  });

  test("tokens", async () => {
    const { planner } = planned(again, [add], { budget: { maxTokens: 300 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({ answer: "So far.", outcome: "tokens" });
  });

  test("seconds, whatever a tool does", async () => {
    const never = tool({
      name: "math_add",
      description: "",
      input: z.object({}),
      run: () => new Promise(() => undefined),
    });
    const { planner } = planned(again, [never], { budget: { maxSeconds: 0.3 } });
    await expect(planner.run("Go on.")).rejects.toMatchObject({ code: "E_PLANNER_TIME" });
  });

  test("calls at the same time", async () => {
    let [now, most] = [0, 0];
    const slow = tool({
      name: "slow",
      description: "",
      input: z.object({ n: z.number() }),
      run: async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
      },
    });
    const script = once(...Array.from({ length: 20 }, (_, n) => ({ name: "slow", args: { n } })));
    await planned(script, [slow], { absoluteMaxParallel: 4 }).planner.run("Go.", {
      planningHints: { max_parallel: 100 },
    });
    expect(most).toBe(4);
    most = 0;
    await planned(script, [slow]).planner.run("Go.", { planningHints: { max_parallel: 2 } });
    expect(most).toBe(2);
  });

  test("whoever asked may give up: calls end, and nothing more is asked", async () => {
    const controller = new AbortController();
    let ended = false;
    const wait = tool({
      name: "wait",
      description: "",
      input: z.object({}),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            ended = true;
            reject(signal.reason as Error);
          });
          controller.abort(new Error("enough"));
        }),
    });
    const { planner, turns } = planned(once({ name: "wait" }), [wait]);
    await expect(planner.run("Go.", { signal: controller.signal })).rejects.toThrow("enough");
    expect([ended, turns.length]).toEqual([true, 1]);
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
    const { planner, events } = planned(script, [ask, other]);
    const kept = new Map<string, string>();
    const stateStore = {
      savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
      loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
    };
    const here = planned(script, [ask, other], { stateStore });
    const first = await here.planner.run("Ask.", { scope: { user_id: "ada" } });
    expect(first).toMatchObject({ kind: "pause", reason: "await_input", payload: { question: "Which?" }, tool: "ask" });
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
    expect([planner, events.length]).toBeDefined();
  });
});
