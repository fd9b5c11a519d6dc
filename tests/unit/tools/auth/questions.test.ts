/** Askers who come, give up and are answered in any order: one asks at a time, and none is left behind. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Questions, type Asker } from "../../../../web/src/tools/auth/credentials.js";

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
