/** One question to a user, however many of their calls need its answer. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Asker, askUser, Questions } from "../../../../web/src/tools/auth/credentials.js";
import type { OAuthManager } from "../../../../web/src/tools/auth/oauth-manager.js";
import { ToolAuthError } from "../../../../web/src/tools/errors.js";
import type { ToolContext } from "../../../../web/src/tools/context.js";
import { consent, startAuthorizationServer, type TestAuthorizationServer } from "./authorization-server.js";
import { managerOf, providerAt } from "./consenting.js";

describe("consent", () => {
  let server: TestAuthorizationServer;
  let manager: OAuthManager;
  beforeAll(async () => {
    server = await startAuthorizationServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(() => {
    manager = managerOf(server);
  });
  afterEach(() => void vi.useRealTimers());

  type Payload = Readonly<Record<string, unknown>>;

  /** A question that was put to a host, which answers when the test says so. */
  interface Question {
    /** Whose call asks. */
    readonly call: string;
    /** The person consents. */
    readonly agree: () => Promise<void>;
    /** The host says that it is done, and nothing else happened. */
    readonly settle: () => void;
    /** The host throws. */
    readonly fail: (reason: unknown) => void;
  }

  /** Questions in the order in which they were asked. */
  let questions: Question[];
  beforeEach(() => {
    questions = [];
  });

  function pauseOf(name: string, user: { user_id: string; tenant_id?: string }): NonNullable<ToolContext["pause"]> {
    return async (_, payload: Payload) => {
      await new Promise<void>((resolve, reject) => {
        const agree = async (): Promise<void> => {
          await manager.handleCallback(await consent(payload["auth_url"] as string, { login: name }), { user });
          resolve();
        };
        questions.push({ call: name, agree, settle: resolve, fail: reject });
      });
    };
  }

  /** A call by a user that needs a token: its outcome, or the error's sentence. */
  function call(
    name: string,
    {
      user = { user_id: "ada" },
      provider = "files",
      canAsk = true,
      signal,
    }: {
      readonly user?: { readonly user_id: string; readonly tenant_id?: string };
      readonly provider?: string;
      readonly canAsk?: boolean;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<unknown> {
    const context: ToolContext = {
      scope: { ...user, trace_id: name },
      ...(canAsk && { pause: pauseOf(name, user) }),
      ...(signal !== undefined && { signal }),
    };
    return askUser(manager, provider, context).catch((error: unknown) => error);
  }

  const five = (): Promise<unknown>[] => ["a", "b", "c", "d", "e"].map((name) => call(name));
  const asked = (): string[] => questions.map((question) => question.call);
  /** Waits until so many were asked. */
  const untilAsked = (count: number): Promise<void> => vi.waitFor(() => expect(asked()).toHaveLength(count));
  /** Lets everything happen that waits for nothing. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test("five calls at once of one user ask once, and all have the token", async () => {
    const calls = five();
    await untilAsked(1);
    await questions[0]?.agree();
    const token = await manager.getToken("ada", "files");
    expect(await server.owner(token ?? "")).toBe("a");
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => token));
    expect(asked()).toEqual(["a"]);
  });

  test.each([
    ["another user", { user: { user_id: "bob" } }],
    ["the same id in a tenant", { user: { user_id: "ada", tenant_id: "acme" } }],
    ["another provider", { provider: "mail" }],
  ])("%s is asked at the same time", async (_, other) => {
    manager.setProvider("mail", providerAt(server));
    const [first, second] = [call("first"), call("second", other)];
    await untilAsked(2);
    // Neither waits for the other, so either may be asked first.
    const asking = (name: string): Question | undefined => questions.find((question) => question.call === name);
    await asking("second")?.agree();
    expect(await server.owner((await second) as string)).toBe("second");
    await asking("first")?.agree();
    expect(await server.owner((await first) as string)).toBe("first");
  });

  test("another manager's users are others", async () => {
    const first = call("first");
    await untilAsked(1);
    manager = managerOf(server);
    const second = call("second");
    await untilAsked(2);
    for (const { settle } of questions) settle();
    for (const error of await Promise.all([first, second])) expect(error).toBeInstanceOf(ToolAuthError);
  });

  test.each<[string, () => void]>([
    ["gave no access", () => questions[0]?.settle()],
    ["refused it, as the host was told", () => questions[0]?.fail(new ToolAuthError("It was declined."))],
  ])("where the user %s, all who waited are told so, and nobody is asked again", async (_, end) => {
    const calls = [...five(), call("mute", { canAsk: false })];
    await untilAsked(1);
    end();
    const errors = (await Promise.all(calls)) as ToolAuthError[];
    for (const error of errors) expect(error).toBeInstanceOf(ToolAuthError);
    expect(new Set(errors.map(({ message }) => message)).size).toBe(1);
    expect(asked()).toEqual(["a"]);
    // What was refused is over: whoever calls then asks.
    const later = call("later");
    await untilAsked(2);
    await questions[1]?.agree();
    expect(await later).toBe(await manager.getToken("ada", "files"));
  });

  test("a provider that cannot be asked fails all who wait, once", async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(async () => Promise.reject(new TypeError("offline")));
    manager = managerOf(server, { fetch });
    expect(await Promise.all(five())).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ code: "E_TOOL_CONNECTION" })),
    );
    expect(asked()).toEqual([]);
  });

  describe("when the call that asks", () => {
    test("gives up, the next one that can ask does, in the order of their coming", async () => {
      const control = new AbortController();
      const first = call("first", { signal: control.signal });
      const mute = call("mute", { canAsk: false });
      const [second, third] = [call("second"), call("third")];
      await untilAsked(1);
      const reason = new Error("enough");
      control.abort(reason);
      expect(await first).toBe(reason);
      await untilAsked(2);
      await questions[1]?.agree();
      const token = await manager.getToken("ada", "files");
      expect(await Promise.all([mute, second, third])).toEqual([token, token, token]);
      expect(asked()).toEqual(["first", "second"]);
    });

    test("is stopped by its host, which calls again later, the next one asks its own host", async () => {
      const calls = [call("first"), call("second")];
      await untilAsked(1);
      const stopped = new Error("paused");
      questions[0]?.fail(stopped);
      await untilAsked(2);
      questions[1]?.fail(stopped);
      expect(await Promise.all(calls)).toEqual([stopped, stopped]);
    });

    test("is the only one that could, those who wait are told that they cannot", async () => {
      const control = new AbortController();
      const first = call("first", { signal: control.signal });
      const mute = call("mute", { canAsk: false });
      await untilAsked(1);
      control.abort(new Error("enough"));
      await first;
      expect(await mute).toMatchObject({
        code: "E_TOOL_AUTH",
        message: expect.stringContaining("cannot be asked here"),
      });
    });

    test("gives up after the consent was given, nobody is asked again", async () => {
      const control = new AbortController();
      const first = call("first", { signal: control.signal });
      const second = call("second");
      await untilAsked(1);
      const agreed = questions[0]?.agree();
      await vi.waitFor(async () => expect(await manager.getToken("ada", "files")).not.toBeNull());
      control.abort(new Error("enough"));
      await Promise.all([agreed, first]);
      expect(await second).toBe(await manager.getToken("ada", "files"));
      expect(asked()).toEqual(["first"]);
    });

    test("and the next one give up in the same moment, the one after them asks", async () => {
      const [one, two] = [new AbortController(), new AbortController()];
      const calls = [call("first", { signal: one.signal }), call("second", { signal: two.signal })];
      const third = call("third");
      await untilAsked(1);
      one.abort(new Error("enough"));
      two.abort(new Error("enough"));
      await Promise.all(calls);
      await vi.waitFor(() => expect(asked().at(-1)).toBe("third"));
      await questions.at(-1)?.agree();
      expect(await third).toBe(await manager.getToken("ada", "files"));
    });
  });

  describe("a waiting caller", () => {
    test("ends at once with its own signal, and the others go on", async () => {
      const control = new AbortController();
      const [first, second] = [call("first"), call("second", { signal: control.signal })];
      const third = call("third");
      await untilAsked(1);
      const reason = new Error("enough");
      control.abort(reason);
      expect(await second).toBe(reason);
      await questions[0]?.agree();
      expect(await third).toBe(await first);
      expect(asked()).toEqual(["first"]);
    });

    test("does not even begin with a signal that is aborted", async () => {
      const reason = new Error("enough");
      expect(await call("first", { signal: AbortSignal.abort(reason) })).toBe(reason);
      await settled();
      expect(asked()).toEqual([]);
    });

    test("never asks without a pause, whether somebody else does or not", async () => {
      expect(await call("mute", { canAsk: false })).toMatchObject({ code: "E_TOOL_AUTH" });
      const first = call("first");
      const mute = call("mute", { canAsk: false });
      await untilAsked(1);
      await questions[0]?.agree();
      expect(await mute).toBe(await first);
    });

    test("waits for ten minutes at most; whoever comes then asks anew", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      onTestFinished(() => void vi.useRealTimers());
      const first = call("first");
      await vi.waitUntil(() => questions.length === 1);
      const second = call("second");
      await settled();
      // Waiting for the question has moved the clock a little.
      await vi.advanceTimersByTimeAsync(590_000);
      const late = call("late");
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await second).toMatchObject({
        code: "E_TOOL_TIMEOUT",
        neverSent: true,
        message: expect.stringContaining("10 minutes"),
      });
      const third = call("third");
      vi.useRealTimers();
      await untilAsked(2);
      await questions[1]?.agree();
      const token = await manager.getToken("ada", "files");
      expect(await third).toBe(token);
      questions[0]?.settle();
      expect(await Promise.all([first, late])).toEqual([token, token]);
      expect(asked()).toEqual(["first", "third"]);
    });
  });
});

/** Askers who come, give up and are answered in any order: one asks at a time, and none is left behind. */
describe("questions to a person", () => {
  const GIVEN_UP = "given up";

  /** Says what it was told, and by whom. */
  class Crowd {
    readonly questions = new Questions<string>(10, 20);
    readonly outcomes: Promise<string>[] = [];
    /** Whoever asks now, each with what ends it. */
    readonly asking: { readonly answer: (text: string) => void; readonly fail: (error: Error) => void }[] = [];
    readonly #controls: AbortController[] = [];

    come(key: string, canAsk: boolean): void {
      const control = new AbortController();
      this.#controls.push(control);
      const ask = (): Promise<string> =>
        new Promise<string>((resolve, reject) => {
          const entry = { answer: resolve, fail: reject };
          this.asking.push(entry);
          control.signal.addEventListener("abort", () => reject(new Error(GIVEN_UP)));
        });
      const asker: Asker<string> = {
        ...(canAsk && { ask }),
        isAnswer: (error) => (error as Error).message !== GIVEN_UP,
        unable: () => new Error("unable"),
        late: () => new Error("late"),
        crowded: () => new Error("crowded"),
        signal: control.signal,
      };
      const answer = this.questions.answer(key, asker);
      this.outcomes.push(answer.catch((error: unknown) => (error as Error).message));
    }

    leave(index: number): void {
      this.#controls[index % Math.max(1, this.#controls.length)]?.abort(new Error(GIVEN_UP));
    }
  }

  type Step =
    | { readonly kind: "come"; readonly key: string; readonly canAsk: boolean }
    | { readonly kind: "leave"; readonly index: number }
    | { readonly kind: "answer"; readonly index: number }
    | { readonly kind: "refuse"; readonly index: number }
    | { readonly kind: "wait" };

  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant("come" as const),
      key: fc.constantFrom("x", "y"),
      canAsk: fc.boolean(),
    }),
    fc.record({ kind: fc.constantFrom("leave" as const, "answer" as const, "refuse" as const), index: fc.nat(20) }),
    fc.record({ kind: fc.constant("wait" as const) }),
  );

  const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test("everybody gets an outcome, and nothing is remembered afterwards", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const crowd = new Crowd();
        for (const next of steps) {
          if (next.kind === "come") crowd.come(next.key, next.canAsk);
          else if (next.kind === "leave") crowd.leave(next.index);
          else if (next.kind === "answer") crowd.asking[next.index]?.answer("yes");
          else if (next.kind === "refuse") crowd.asking[next.index]?.fail(new Error("no"));
          else await moment();
          expect(crowd.questions.size).toBeLessThanOrEqual(2);
        }
        // Whoever asks is answered, until nobody asks any more.
        for (let round = 0; round < 3; round += 1) {
          await moment();
          for (const { answer } of crowd.asking) answer("yes");
        }
        const known = ["yes", "no", "unable", GIVEN_UP];
        for (const outcome of await Promise.all(crowd.outcomes)) expect(known).toContain(outcome);
        expect(crowd.questions.size).toBe(0);
      }),
    );
  });

  test("no more than so many wait for one answer, and no more than so many questions are known", async () => {
    const crowd = new Crowd();
    for (let count = 0; count < 22; count += 1) crowd.come("x", true);
    expect(await crowd.outcomes.at(-1)).toBe("crowded");
    for (const { answer } of crowd.asking) answer("yes");
    expect(await Promise.all(crowd.outcomes)).toEqual([...Array.from({ length: 21 }, () => "yes"), "crowded"]);
    for (let count = 0; count < 11; count += 1) crowd.come(`${count}`, true);
    expect(crowd.questions.size).toBe(10);
    // The oldest is forgotten, and goes on for whoever asks it.
    crowd.come("0", true);
    for (const { answer } of crowd.asking) answer("yes");
    expect(await Promise.all(crowd.outcomes.slice(22))).toEqual(Array.from({ length: 12 }, () => "yes"));
    expect(crowd.questions.size).toBe(0);
  });
});
