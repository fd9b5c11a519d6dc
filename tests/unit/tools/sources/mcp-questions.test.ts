/** What servers ask of a person in the middle of a call: both eras, both transports. */
import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../../../web/src/tools/context.js";
import type { SourceConnection } from "../../../../web/src/tools/source.js";
import { SETTINGS, useConnection, useFixture } from "./mcp/fixture.js";
import { call, opened, setting } from "./mcp/setting.js";
import { useTaskServer } from "./mcp/task-server.js";

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
    await expect(odd).rejects.toThrow(/is no answer/);
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
