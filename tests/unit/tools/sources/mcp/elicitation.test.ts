import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { ToolNode } from "../../../../../web/src/tools-node.js";
import type { ToolContext } from "../../../../../web/src/tools/context.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import { answerTo, readQuestion, cleanText } from "../../../../../web/src/tools/sources/mcp/elicitation.js";
import { SETTINGS, useConnection, useFixture, call, opened, setting, useTaskServer } from "./setting.js";
import { serverScript } from "./server-script.js";

const fixture = useFixture();
const tasks = useTaskServer();

type Pause = NonNullable<ToolContext["pause"]>;

/** A person who notes what they are asked, and says always the same. */
function person(says: unknown): { readonly pause: Pause; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    pause: async (reason, payload) => {
      asked.push({ reason, ...payload });
      return says;
    },
  };
}

const said = (value: unknown): unknown => JSON.parse(/\{.*\}/.exec(String(value))?.[0] ?? "null");

const accept = (ok: boolean): object => ({ action: "accept", content: { ok } });

/** Calls at the same time, each of which asks: what the server is told, call by call. */
async function both(connection: SourceConnection, ...people: readonly [string, Pause | undefined][]) {
  return Promise.all(
    people.map(async ([user_id, pause]) => {
      const more = { scope: { user_id }, ...(pause !== undefined && { pause }) };
      return said((await call(connection, "elicit", {}, more)).reduced.value);
    }),
  );
}

describe.each(SETTINGS)("%s", (_name, transport, era) => {
  const own = useConnection((at) => fixture(at, transport, era));
  const [tool, field] = era === "legacy" ? ["elicit", "ok"] : ["test_input_required_result_elicitation", "name"];

  it("go to the call's person, with what is asked for", async () => {
    const { pause, asked } = person({ [field]: field === "ok" ? true : "Ada", secret: "hunter2" });
    const { reduced } = await call(own.connection, tool, {}, { pause });
    expect(reduced.value).toBe(
      era === "legacy" ? 'The user says: {"action":"accept","content":{"ok":true}}' : "Hello, Ada!",
    );
    expect(asked).toMatchObject([
      {
        reason: "await_input",
        pause_type: "elicitation",
        message: era === "legacy" ? "Go on?" : "What is your name?",
        schema: { type: "object", required: [field] },
        source: "fix",
        tool,
      },
    ]);
  });

  it("end the call where the person cannot be asked after all, and the connection lives on", async () => {
    const reason = new Error("paused until tomorrow");
    const pause = async (): Promise<unknown> => Promise.reject(reason);
    await expect(call(own.connection, tool, {}, { pause })).rejects.toBe(reason);
    const odd = call(own.connection, tool, {}, { pause: async () => ({ [field]: { deep: 1 } }) });
    await expect(odd).rejects.toThrow(/invalid answer/);
    expect((await call(own.connection, "greet", { name: "Ada" })).isError).toBe(false);
  });

  it("are not waited for when nobody wants the result any more", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const pause = async (): Promise<unknown> => {
      abort.abort(reason);
      return new Promise(() => undefined);
    };
    await expect(call(own.connection, tool, {}, { pause, signal: abort.signal })).rejects.toBe(reason);
    expect((await call(own.connection, "greet", { name: "Ada" })).isError).toBe(false);
  });
});

describe.each(["stdio", "http"] as const)("2026-07-28, %s", (transport) => {
  it("are asked in rounds, and the server's state goes back as it came", async () => {
    const at = await setting();
    await using connection = await opened(fixture(at, transport, "modern"), at);
    const { pause, asked } = person({ name: "Ada", color: "red", ok: true });
    const rounds = await call(connection, "test_input_required_result_multi_round", {}, { pause });
    expect(rounds.reduced.value).toBe("Ada likes red.");
    expect(asked).toHaveLength(2);
    const kept = await call(connection, "test_input_required_result_request_state", {}, { pause });
    expect(kept.reduced.value).toBe("state-ok");
  });

  it("that no person can answer are refused", async () => {
    const at = await setting();
    await using connection = await opened(fixture(at, transport, "modern"), at);
    const { pause, asked } = person({});
    const sampling = call(connection, "test_input_required_result_sampling", {}, { pause });
    await expect(sampling).rejects.toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
    expect(asked).toEqual([]);
  });
});

describe("2025-11-25", () => {
  const decline = { action: "decline" };

  it("over HTTP belong to the call that they come with", async () => {
    const at = await setting();
    await using connection = await opened(fixture(at, "http", "legacy"), at);
    const [yes, no] = [person({ ok: true }), person({ ok: false })];
    expect(await both(connection, ["ada", yes.pause], ["bob", no.pause], ["eve", undefined])).toEqual([
      accept(true),
      accept(false),
      decline,
    ]);
  });

  it("over stdio go to the only call that can ask, of one person, and else to nobody", async () => {
    const at = await setting();
    await using connection = await opened(fixture(at, "stdio", "legacy"), at);
    const { pause, asked } = person({ ok: true });
    // Of two calls one may be over before the other asks: a third is not.
    const beside = async (
      third: Parameters<typeof call>[3],
      ...people: readonly [string, Pause | undefined][]
    ): Promise<unknown> => {
      const hold = new AbortController();
      const held = call(connection, "slow", {}, { ...third, signal: hold.signal }).catch(() => undefined);
      const answers = await both(connection, ...people);
      hold.abort();
      await held;
      return answers;
    };
    const [ada, bob] = [{ scope: { user_id: "ada" }, pause }, { scope: { user_id: "bob" } }];
    expect(await beside(ada, ["ada", pause], ["ada", pause])).toEqual([decline, decline]);
    expect(await beside(bob, ["ada", pause], ["bob", undefined])).toEqual([decline, decline]);
    expect(asked).toEqual([]);
    const abort = new AbortController();
    const other = call(connection, "slow", {}, { scope: { user_id: "ada" }, signal: abort.signal });
    expect(await both(connection, ["ada", pause])).toEqual([accept(true)]);
    abort.abort(new Error("enough"));
    await expect(other).rejects.toThrow("enough");
  });

  it.each([
    ["https://example.com/consent?a=1", undefined, "accept"],
    ["http://127.0.0.1:1/consent", undefined, "accept"],
    ["https://example.com/consent", null, "decline"],
    ["http://example.com/consent", undefined, "decline"],
    ["https://user:word@example.com/", undefined, "decline"],
    ["ftp://example.com/", undefined, "decline"],
  ])("may be a page to open: %s, %s: %s", async (url, answer, action) => {
    const at = await setting();
    await using connection = await opened(tasks(at, "http"), at);
    const { pause, asked } = person(answer);
    const { reduced } = await call(connection, "elicit", { url }, { pause });
    expect(reduced.value).toMatchObject({ action });
    const isAsked = action === "accept" || answer === null;
    const payload = {
      reason: "external_event",
      pause_type: "url",
      url,
      message: "Open it",
      source: "fix",
      tool: "elicit",
    };
    expect(asked).toEqual(isAsked ? [payload] : []);
  });
});

const PLACE = { source: "fix", tool: "ask" };
const form = (properties: object, more: object = {}): object => ({
  message: "Who?",
  requestedSchema: { type: "object", properties, ...more },
});
const FIELD = { type: "string", title: "Na\u202eme", description: "x".repeat(10_000) };

describe("a server's text", () => {
  it("is at most 4,000 characters long and hides nothing, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 10_000 }), (text) => {
        const seen = cleanText(text);
        expect(Array.from(seen).length).toBeLessThanOrEqual(4000);
        expect(seen).not.toMatch(/[\p{Cs}\u202a-\u202e\u2066-\u2069\u001b\u0000]/u);
      }),
    );
  });

  it("keeps its lines and its joined letters", () => {
    expect(cleanText("first\nsecond 👩‍💻")).toBe("first\nsecond 👩‍💻");
  });
});

describe("a form", () => {
  it("is shown with clean titles, and without what MCP does not know", () => {
    const question = readQuestion(form({ name: { ...FIELD, "x-evil": 1 } }, { required: ["name"], evil: true }), PLACE);
    expect(question?.payload["schema"]).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", description: expect.stringMatching(/^x{3999}…$/) as string },
      },
      required: ["name"],
    });
  });

  it.each([
    ["a name that hides something", form({ "na\u202eme": { type: "string" } })],
    ["a choice that hides something", form({ name: { type: "string", enum: ["a", "b\u001b[2J"] } })],
    [
      "a name that is no name",
      JSON.parse(
        '{"message":"","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"}}}}',
      ) as object,
    ],
    [
      "more than anybody reads",
      form(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`f${at}`, { type: "string" }]))),
    ],
    ["fields inside fields", form({ name: { type: "object", properties: {} } })],
    ["no schema", { message: "Who?" }],
    ["nothing", undefined],
  ])("with %s is not shown", (_name, params) => {
    const question = readQuestion(params, PLACE);
    expect(question?.fields ?? []).toEqual([]);
  });
});

describe("an answer", () => {
  const question = readQuestion(
    form({ name: { type: "string" }, ages: { type: "array", items: { type: "string", enum: ["1"] } } }),
    PLACE,
  );
  if (question === undefined) throw new Error("no question");

  it.each([
    [undefined, { action: "decline" }],
    [null, { action: "decline" }],
    [{}, { action: "accept", content: {} }],
    [
      { name: "Ada", ages: ["1"], more: "not asked for" },
      { action: "accept", content: { name: "Ada", ages: ["1"] } },
    ],
  ])("%j", (given, expected) => {
    expect(answerTo(question, given, PLACE)).toEqual(expected);
  });

  it.each([
    ["a text", "Ada"],
    ["a list", []],
    ["depth", { name: { first: "Ada" } }],
    ["too much", { name: "x".repeat(70_000) }],
  ])("that is none is an error: %s", (_name, given) => {
    expect(() => answerTo(question, given, PLACE)).toThrow(
      /invalid answer to a question of .*"ask" of the source "fix"/,
    );
  });
});

const question = {
  message: "Go on?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};

/** `ask` puts the question and is done when `go` is called; `heard` gives what was answered. */
const SCRIPT = serverScript({
  prelude: `
    let go, hear;
    const gone = new Promise((resolve) => (go = resolve));
    const heard = new Promise((resolve) => (hear = resolve));
    const said = (value) => JSON.stringify({ content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] });`,
  before: `if (message.id === "q") return hear(message.result ?? "no result"), true;`,
  tools: {
    ask: `
      write(JSON.stringify({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: ${JSON.stringify(question)} }));
      await gone;
      return said("done");`,
    go: `go(); return said("gone");`,
    heard: `return said(await heard);`,
  },
});

test("is declined when the call's result comes, however long a person would take, and ends nothing", async () => {
  const code = `data:text/javascript;base64,${Buffer.from(SCRIPT).toString("base64")}`;
  const connection = `"${process.execPath}" --input-type=module -e "await import('${code}')"`;
  await using node = new ToolNode({ name: "asking", transport: "mcp", connection });
  await node.connect();
  let ask: (() => void) | undefined;
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const pause = async (): Promise<unknown> => {
    ask?.();
    return new Promise(() => undefined);
  };
  const pending = node.call("ask", {}, { pause });
  await asked;
  await node.call("go");
  expect((await pending).value).toBe("done");
  expect((await node.call("heard")).value).toEqual({ action: "decline" });
});
