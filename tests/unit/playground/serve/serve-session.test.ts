import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { ChatEvent } from "../../../../web/playground/engine/chat/messages.js";
import type { EngineEvent, ShownPause } from "../../../../web/playground/engine/messages.js";
import { Pauses } from "../../../../web/playground/engine/pauses.js";
import { ServedPauses } from "../../../../web/playground/engine/serve/chat.js";
import { ServeSession } from "../../../../web/playground/engine/serve/serve-session.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { OpenAiClient, type Script, createScriptedModel, tool } from "../../../../web/src/planner.js";
import { SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";

const BASE = "http://127.0.0.1:8080/";

/** Somebody at a page, and the server that the page comes from. */
interface ServeVisitor extends AsyncDisposable {
  readonly session: ServeSession;
  readonly store: MemoryArtifactStore;
  readonly events: readonly EngineEvent[];
  readonly pauses: Pauses;
  /** Events of one kind. */
  told<Kind extends EngineEvent["kind"]>(kind: Kind): readonly Extract<EngineEvent, { readonly kind: Kind }>[];
  /** A request beside the session's own, with the same cookie. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Methods and paths that were asked for. */
  readonly asked: readonly string[];
  /** Nobody answers from now on. */
  leave(): void;
  /** The server answers again. */
  comeBack(): void;
}

/** `cookie`: one that the browser has already. */
async function visitor(
  options: Partial<SluiceServerOptions> = {},
  { cookie = "" }: { readonly cookie?: string } = {},
): Promise<ServeVisitor> {
  const store = new MemoryArtifactStore();
  const server = new SluiceServer({ store, ...options });
  const asked: string[] = [];
  let [kept, isAway] = [cookie, false];
  const sent = async (address: string, init: RequestInit = {}): Promise<Response> => {
    if (isAway) throw new TypeError("Failed to fetch");
    const request = new Request(address, init);
    request.headers.set("cookie", kept);
    asked.push(`${request.method} ${address.slice(BASE.length)}`);
    const response = await server.fetch(request);
    const [given] = response.headers.getSetCookie();
    kept = given?.split(";", 1)[0] ?? kept;
    return response;
  };
  vi.stubGlobal("fetch", sent);
  const events: EngineEvent[] = [];
  const pauses = new Pauses(
    (pause) => events.push({ kind: "paused", pause }),
    (pause) => events.push({ kind: "resumed", pause }),
  );
  const session = new ServeSession(BASE, pauses, (event) => events.push(event));
  return {
    session,
    store,
    events,
    pauses,
    asked,
    told: (kind) => events.filter((event): event is Extract<EngineEvent, { kind: typeof kind }> => event.kind === kind),
    fetch: (path, init) => sent(new URL(path, BASE).href, init),
    leave: () => (isAway = true),
    comeBack: () => (isAway = false),
    [Symbol.asyncDispose]: async () => {
      session.watch(false);
      await server[Symbol.asyncDispose]();
      vi.unstubAllGlobals();
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

async function upload(seen: ServeVisitor, filename: string, body: string): Promise<string> {
  const answer = await seen.fetch(`artifacts?filename=${filename}`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body,
  });
  return ((await answer.json()) as { artifact: { id: string } }).artifact.id;
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string | null> {
  return stream === null ? null : new Response(stream).text();
}

describe("a session at the page's server", () => {
  test("is begun where none is known, and gone on with where one is", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await seen.session.begin(true);
    expect(seen.asked.filter((line) => line.includes("sessions"))).toEqual(["POST sessions", "GET sessions/current"]);
  });

  test("that is known and over is begun anew", async () => {
    await using seen = await visitor();
    await seen.session.begin(true);
    expect(seen.asked.slice(0, 2)).toEqual(["GET sessions/current", "POST sessions"]);
    expect(seen.told("session_over")).toEqual([]);
  });

  test("of somebody who signed in before the page was opened is gone on with", async () => {
    let knows = true;
    await using seen = await visitor({ authenticate: () => (knows ? { user_id: "ada" } : null) });
    await seen.fetch("sessions", { method: "POST", body: "{}", headers: JSON_TYPE });
    knows = false;
    expect((await seen.session.begin(false)).sources).toEqual([]);
  });

  test("of nobody is refused in the server's own words", async () => {
    await using seen = await visitor({ authenticate: () => null });
    await expect(seen.session.begin(false)).rejects.toMatchObject({
      code: "E_SESSION",
      message: expect.stringMatching(/^You are not signed in/) as string,
    });
  });

  test("that ends elsewhere is told of once", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await seen.fetch("sessions/current", { method: "DELETE" });
    await vi.waitFor(() => expect(seen.told("session_over")).toHaveLength(1));
    await seen.session.check();
    await expect(seen.session.remove("served", "x_000000000000")).rejects.toMatchObject({ code: "E_SESSION" });
    expect(seen.told("session_over")).toHaveLength(1);
    await seen.session.begin(true);
    await upload(seen, "a.txt", "a");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1));
  });

  test("ends with all that it stored; ending it again is no error", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await upload(seen, "a.txt", "a");
    await seen.session.end();
    expect((await seen.fetch("artifacts")).status).toBe(401);
    await seen.session.end();
    expect(seen.told("session_over")).toEqual([]);
  });

  test("says that the server is away in a sentence that names what to do", async () => {
    await using seen = await visitor();
    seen.leave();
    await expect(seen.session.begin(false)).rejects.toMatchObject({
      code: "E_TOOL_CONNECTION",
      message: "This page's server does not answer: check that it is running, and try again.",
    });
  });
});

describe("what it stored", () => {
  test("is listed as it comes, the newest first, as far as somebody looks", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    await upload(seen, "first.txt", "1");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1));
    seen.session.watch(false);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await upload(seen, "second.txt", "2");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(seen.told("served").at(-1)?.artifacts).toHaveLength(1);
    seen.session.watch(true);
    await vi.waitFor(() =>
      expect(
        seen
          .told("served")
          .at(-1)
          ?.artifacts.map(({ filename, served }) => [filename, served]),
      ).toEqual([
        ["second.txt", true],
        ["first.txt", true],
      ]),
    );
  });

  test("is listed once the server answers again, though nothing else is told of it", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const id = await upload(seen, "note.txt", "A note");
    seen.leave();
    await new Promise((resolve) => void setTimeout(resolve, 600));
    expect(seen.told("served")).toEqual([]);
    seen.comeBack();
    const listed = (): readonly string[] =>
      (seen.told("served").at(-1)?.artifacts ?? []).map((artifact) => artifact.id);
    await vi.waitFor(() => expect(listed()).toEqual([id]), { timeout: 10_000 });
  });

  test("of too many the newest are listed, and it is said that there are more", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const { id } = (await (await seen.fetch("sessions/current")).json()) as { id: string };
    const scope = { user_id: "local", session_id: id };
    for (let at = 0; at < 250; at += 1) await seen.store.putText(`text ${at}`, { scope });
    await upload(seen, "last.txt", "last");
    await vi.waitFor(() => expect(seen.told("served").at(-1)?.artifacts).toHaveLength(200), { timeout: 5000 });
    expect(seen.told("served").at(-1)?.hasMore).toBe(true);
  });

  test("is read whole or in ranges whose end is not in them; what is empty or gone is so", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const id = await upload(seen, "a.txt", "0123456789");
    const { session } = seen;
    expect(await textOf(await session.bytes("served", id))).toBe("0123456789");
    expect(await textOf(await session.bytes("served", id, { start: 2, end: 5 }))).toBe("234");
    expect(await textOf(await session.bytes("served", id, { start: 8 }))).toBe("89");
    const empty = await upload(seen, "empty.txt", "");
    expect(await textOf(await session.bytes("served", empty, { start: 0, end: 100 }))).toBe("");
    expect(await session.remove("served", id)).toBe(true);
    expect(await session.remove("served", id)).toBe(false);
    expect(await session.bytes("served", id)).toBeNull();
  });

  test("is a file of its name for My Files", async () => {
    await using seen = await visitor();
    await seen.session.begin(false);
    const file = await seen.session.file("served", await upload(seen, "notes.txt", "a note"));
    expect([file.name, file.type, await file.text()]).toEqual(["notes.txt", "text/plain", "a note"]);
  });
});

const ASKED = { id: "t1", query: "Do it", before: [], model: { kind: "served" } } as const;

/** Calls the tool that asks, and says what it said. */
const asks: Script = ({ last }) =>
  last.role === "tool" ? { text: last.content } : { calls: [{ name: "ask", args: {} }] };

function chatting(script: Script): Partial<SluiceServerOptions> {
  const fetch = createScriptedModel(script);
  return { llm: new OpenAiClient({ model: "scripted", baseUrl: "http://model.test/v1", fetch }) };
}

describe("a question to the server's model", () => {
  test("is answered; what is asked next is told what was said before, cut to what a server takes", async () => {
    const systems: string[] = [];
    await using seen = await visitor(
      chatting(({ messages }) => {
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
      chatting(() => {
        throw new Error("secret");
      }),
    );
    await seen.session.begin(false);
    const failing = seen.session.chat.ask(ASKED, () => undefined);
    await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(/^E_LLM/) as string });
  });

  test("is not asked twice where the connection breaks before the server began", async () => {
    await using seen = await visitor(chatting(() => ({ text: "It is done." })));
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
  const ASKED_FOR = { pause_type: "elicitation", message: "Who?", schema: {}, source: "own", tool: "ask" } as const;
  const asking = tool({
    name: "ask",
    description: "Asks.",
    input: z.object({}),
    run: async (_, { pause }) => ({ said: await pause("await_input", ASKED_FOR) }),
  });

  test("goes on with the answer, once", async () => {
    await using seen = await visitor({ ...chatting(asks), tools: [asking] });
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
    await using seen = await visitor({ ...chatting(() => ({ calls: [{ name: "ask", args: {} }] })), tools: [asking] });
    await seen.session.begin(false);
    const answering = seen.session.chat.ask(ASKED, () => undefined);
    await vi.waitFor(() => expect(seen.told("paused")).toHaveLength(1));
    seen.session.chat.stop("t1");
    await expect(answering).rejects.toMatchObject({ name: "AbortError" });
    await vi.waitFor(() => expect(seen.asked.some((line) => line.startsWith("DELETE chat/"))).toBe(true), {
      timeout: 20_000,
    });
  });
});

const never = new AbortController().signal;

function pausing(payload: Readonly<Record<string, unknown>>): {
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
    const { pauses, open, answer } = pausing({ pause_type: "url", url: "https://docs.test/" });
    expect(open).toMatchObject([{ server: "docs", question: "t1" }]);
    pauses.answer(open[0]?.id ?? "", undefined);
    expect(await answer).toBe(true);
  });

  test("of a provider is answered by it, and nobody is asked any more", async () => {
    const { questions, open, answer } = pausing(CONSENT);
    questions.consented("another", true);
    expect(open).toHaveLength(1);
    questions.consented("docs", true);
    expect(await answer).toBe(true);
    expect(open).toEqual([]);
  });

  test("is declined where the provider was, or the person does", async () => {
    const given = pausing(CONSENT);
    given.questions.consented("docs", false);
    expect(await given.answer).toBeNull();
    const own = pausing(CONSENT);
    own.pauses.answer(own.open[0]?.id ?? "", null);
    expect(await own.answer).toBeNull();
  });
});
