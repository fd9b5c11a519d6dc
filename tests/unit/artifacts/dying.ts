import { expect } from "vitest";

// More than a program makes; it says when it got through.
const MOST_CALLS = 300;
const AT_ONCE = 4;

/** What is wrong with a store whose process died before one of its calls; `through` when it did not die. */
export interface Dying {
  readonly through: boolean;
  readonly wrong: readonly string[];
}

/** Lets a process die before each of its calls to the file system, and expects nothing to be wrong after any of them. */
export async function expectToSurvive(dying: (call: number) => Promise<Dying>): Promise<void> {
  const wrong: Record<number, readonly string[]> = {};
  let died = 0;
  let next = 0;
  let through = false;
  const walk = async (): Promise<void> => {
    while (!through && next < MOST_CALLS) {
      const call = next++;
      const outcome = await dying(call);
      if (outcome.wrong.length > 0) wrong[call] = outcome.wrong;
      if (outcome.through) through = true;
      else died += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  expect(wrong).toEqual({});
  expect(through).toBe(true);
  expect(died).toBeGreaterThan(50);
}
