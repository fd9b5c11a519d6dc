import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { ChatEvent } from "../../../../web/playground/engine/chat/contract.js";
import type { ShownPause } from "../../../../web/playground/engine/contract.js";
import { Pauses } from "../../../../web/playground/engine/pauses.js";
import { ServedPauses } from "../../../../web/playground/engine/serve/pauses.js";
import { OpenAiClient, scriptedModel, tool, type Script } from "../../../../web/src/planner.js";
import type { SluiceServerOptions } from "../../../../web/src/serve.js";
import { visitor } from "./visitor.js";

const ASKED = { id: "t1", query: "Do it", before: [], model: { kind: "served" } } as const;

/** Calls the tool that asks, and says what it said. */
const asks: Script = ({ messages }) =>
  messages.at(-1)?.role === "tool" ? { text: messages.at(-1)?.content ?? "" } : { calls: [{ name: "ask", args: {} }] };

function options(script: Script): Partial<SluiceServerOptions> {
  const answer = scriptedModel(script);
  return {
    llm: new OpenAiClient({
      model: "scripted",
      baseUrl: "http://model.test/v1",
      fetch: (input, init) => answer(new Request(input, init)),
    }),
  };
}

describe("a question to the server's model", () => {
  test("is answered; what is asked next is told what was said before, cut to what a server takes", async () => {
    const systems: string[] = [];
    await using seen = await visitor(
      options(({ messages }) => {
        systems.push(messages[0]?.content ?? "");
        return { text: "It is done." };
      }),
    );
    expect((await seen.session.begin(false)).chat).toBe(true);
    const told: ChatEvent[] = [];
    const end = await seen.session.chat.ask(ASKED, (event) => told.push(event));
    expect(end).toMatchObject({ answer: "It is done.", outcome: "answered" });
    expect(told.map(({ kind }) => kind)).toEqual(["asked", "text", "model_answered", "saw"]);
    const before = [{ query: "Do it", answer: "y".repeat(100_000) }];
    await seen.session.chat.ask({ ...ASKED, before }, () => undefined);
    expect(systems[1]).toContain('{"query":"Do it","answer":"yyy');
  });

  test("that fails says why", async () => {
    await using seen = await visitor(
      options(() => {
        throw new Error("secret");
      }),
    );
    await seen.session.begin(false);
    const failing = seen.session.chat.ask(ASKED, () => undefined);
    await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(/^E_LLM/) as string });
  });

  test("is not asked twice where the connection breaks before the server began", async () => {
    await using seen = await visitor(options(() => ({ text: "It is done." })));
    await seen.session.begin(false);
    seen.leave();
    await expect(seen.session.chat.ask(ASKED, () => undefined)).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
    expect(seen.asked.filter((line) => line === "POST chat")).toEqual([]);
  });

  test("where there is no model is refused", async () => {
    await using seen = await visitor();
    expect((await seen.session.begin(false)).chat).toBe(false);
    await expect(seen.session.chat.ask(ASKED, () => undefined)).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  });
});

describe("a run that waits for a person", () => {
  const asking = tool({
    name: "ask",
    description: "Asks.",
    input: z.object({}),
    run: async (_, { pause }) => ({ said: await pause("await_input", { pause_type: "elicitation", message: "Who?" }) }),
  });

  test("goes on with the answer, once", async () => {
    await using seen = await visitor({ ...options(asks), tools: [asking] });
    await seen.session.begin(false);
    const answering = seen.session.chat.ask(ASKED, () => undefined);
    await vi.waitFor(() => expect(seen.told("paused")).toHaveLength(1));
    const [{ pause } = { pause: { id: "", question: "" } }] = seen.told("paused");
    expect(pause.question).toBe("t1");
    seen.pauses.answer(pause.id, { name: "Ada" });
    expect((await answering).answer).toContain("Ada");
    expect(seen.asked.filter((line) => line.startsWith("POST chat"))).toEqual(["POST chat", "POST chat/resume"]);
  });

  test("is given up at the server when it is stopped", async () => {
    await using seen = await visitor({ ...options(() => ({ calls: [{ name: "ask", args: {} }] })), tools: [asking] });
    await seen.session.begin(false);
    const answering = seen.session.chat.ask(ASKED, () => undefined);
    await vi.waitFor(() => expect(seen.told("paused")).toHaveLength(1));
    seen.session.chat.stop("t1");
    await expect(answering).rejects.toMatchObject({ name: "AbortError" });
    await vi.waitFor(() => expect(seen.asked.some((line) => line.startsWith("DELETE chat/"))).toBe(true));
  });
});

const never = new AbortController().signal;

function asked(payload: Readonly<Record<string, unknown>>): {
  readonly questions: ServedPauses;
  readonly pauses: Pauses;
  readonly open: ShownPause[];
  readonly answer: Promise<unknown>;
} {
  const open: ShownPause[] = [];
  const pauses = new Pauses(
    (pause) => open.push(pause),
    (id) => open.splice(0, open.length, ...open.filter((pause) => pause.id !== id)),
  );
  const questions = new ServedPauses(pauses);
  const event = { kind: "pause", tool: "docs.read", reason: "external_event", payload };
  return { questions, pauses, open, answer: questions.ask(event, "t1", never) };
}

const CONSENT = { pause_type: "oauth", provider: "docs", auth_url: "https://accounts.test/auth?state=s" };

describe("what a run waits for", () => {
  test("is asked for the server whose tool it is, and answered by the person", async () => {
    const { pauses, open, answer } = asked({ pause_type: "url", url: "https://docs.test/" });
    expect(open).toMatchObject([{ server: "docs", question: "t1" }]);
    pauses.answer(open[0]?.id ?? "", undefined);
    expect(await answer).toBe(true);
  });

  test("of a provider is answered by it, and nobody is asked any more", async () => {
    const { questions, open, answer } = asked(CONSENT);
    questions.consented("another", true);
    expect(open).toHaveLength(1);
    questions.consented("docs", true);
    expect(await answer).toBe(true);
    expect(open).toEqual([]);
  });

  test("is declined where the provider was, or the person does", async () => {
    const given = asked(CONSENT);
    given.questions.consented("docs", false);
    expect(await given.answer).toBeNull();
    const own = asked(CONSENT);
    own.pauses.answer(own.open[0]?.id ?? "", null);
    expect(await own.answer).toBeNull();
  });
});
