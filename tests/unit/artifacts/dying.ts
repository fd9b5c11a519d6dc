import { amount } from "../../support/full.js";

// More than a program makes; it says when it got through.
const MOST_CALLS = 300;
const AT_ONCE = 4;
/** How far apart the calls are that are tried: in the full run it is each of them. */
const STEP = amount(4, 1);

/** What is wrong with a store whose process died before one of its calls; `through` when it did not die. */
export interface Dying {
  readonly through: boolean;
  readonly wrong: readonly string[];
}

/** What came of processes that died before each of the calls that they would have made. */
export interface Died {
  /** By the call's number: what is wrong then. */
  readonly wrong: Readonly<Record<number, readonly string[]>>;
  /** Whether one made all of its calls. */
  readonly through: boolean;
  readonly died: number;
}

/** Lets a process die before each of its calls to the file system; in a brief run, before every fourth. */
export async function dyingAtEach(dying: (call: number) => Promise<Dying>): Promise<Died> {
  const wrong: Record<number, readonly string[]> = {};
  let died = 0;
  let next = 0;
  let through = false;
  const walk = async (): Promise<void> => {
    while (!through && next < MOST_CALLS) {
      const call = next;
      next += STEP;
      const outcome = await dying(call);
      if (outcome.wrong.length > 0) wrong[call] = outcome.wrong;
      if (outcome.through) through = true;
      else died += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  return { wrong, through, died };
}
