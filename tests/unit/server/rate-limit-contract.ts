import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RateLimit } from "../../../web/src/server/http/rate-limit.js";

/** What every rate limit must do, run against each. */

/** A limit under test. */
export interface RateSubject {
  readonly rates: RateLimit;
  /** A limit over the same, as another process would have it; the same one where none can. */
  beside(): RateLimit;
  dispose(): Promise<void>;
}

/** The whole contract, for a limit called `title`. */
export function describeRateLimit(title: string, opening: () => Promise<RateSubject>): void {
  describe.each([title])("%s", () => {
    let subject: RateSubject;
    beforeEach(async () => {
      subject = await opening();
    });
    afterEach(() => subject.dispose());

    test("so many pass, over all processes, however many ask at once; then it says when to come back", async () => {
      const all = [subject.rates, subject.beside()];
      const turns = Array.from({ length: 15 }, () => all.map((rates) => rates.take("a", 10, 60)));
      const verdicts = await Promise.all(turns.flat());
      expect(verdicts.filter(({ ok }) => ok)).toHaveLength(10);
      for (const verdict of verdicts) {
        if (verdict.ok) continue;
        expect(Number.isInteger(verdict.retryAfterSeconds)).toBe(true);
        expect(verdict.retryAfterSeconds).toBeGreaterThan(0);
        expect(verdict.retryAfterSeconds).toBeLessThanOrEqual(60);
      }
    });

    test.each(["b", "", "a:b", "__proto__", "{a}", "ü\r\n", "x".repeat(5000)])(
      "%j has a count of its own",
      async (key) => {
        expect(await subject.rates.take("a", 1, 60)).toEqual({ ok: true });
        expect(await subject.rates.take("a", 1, 60)).toMatchObject({ ok: false });
        expect(await subject.rates.take(key, 1, 60)).toEqual({ ok: true });
        expect(await subject.beside().take(key, 1, 60)).toMatchObject({ ok: false });
      },
    );

    test("limits of different sizes are counted apart", async () => {
      expect(await subject.rates.take("a", 1, 60)).toEqual({ ok: true });
      expect(await subject.rates.take("a", 2, 60)).toEqual({ ok: true });
      expect(await subject.rates.take("a", 1, 30)).toEqual({ ok: true });
      expect(await subject.rates.take("a", 1, 60)).toMatchObject({ ok: false });
    });

    test("when the time is over there is room again, and asking too early does not put it off", async () => {
      const begun = performance.now();
      for (let at = 0; at < 2; at++) expect(await subject.rates.take("a", 2, 1)).toEqual({ ok: true });
      let verdict = await subject.rates.take("a", 2, 1);
      expect(verdict).toEqual({ ok: false, retryAfterSeconds: 1 });
      while (!verdict.ok) {
        await sleep(50);
        verdict = await subject.beside().take("a", 2, 1);
      }
      expect(performance.now() - begun).toBeGreaterThan(900);
      expect(performance.now() - begun).toBeLessThan(5000);
    });
  });
}
