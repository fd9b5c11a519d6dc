/** A run moves from process to process: whenever each closes, its client loses nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import { elsewhere, posted, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import { calling, chatting, doing, kinds, SECRET, textOf, visitor } from "./chatting.js";

const NAMES = ["a", "b", "c"];
const ANSWER = 'They said "a" "b" "c".';

test("whenever processes close, the next goes on, the answer comes once, and all that was told is there in its order", async () => {
  let moved = 0;
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 3 }), async (stops) => {
    const [state, store] = [memoryState(), new MemoryArtifactStore()];
    const tools = NAMES.map((name) => doing(name, () => sleep(25, name)));
    const opened = (): Serving => chatting(calling(...NAMES), tools, { state, secret: SECRET, store });
    let serving = opened();
    const by = await visitor(serving);
    let telling = new Telling(await by.ask("/chat", posted({ query: "Go." })));
    const told: Told[] = [];
    let run = "";
    for (const stop of [...stops, Infinity]) {
      let event: Told | null = null;
      for (let left = stop; left > 0 && (event = await telling.next()) !== null; left -= 1) {
        told.push(event);
        if (event.kind === "run_started") run = event["run"] as string;
      }
      if (event === null) break;
      await serving.server[Symbol.asyncDispose]();
      serving = opened();
      const headers = { "last-event-id": telling.lastId ?? "" };
      telling = new Telling(await elsewhere(serving, by, `/chat/${run}`, { headers }));
    }
    expect(kinds(told).filter((kind) => kind === "result" || kind === "failed")).toEqual(["result"]);
    expect(told.at(-1)).toMatchObject({ kind: "result", answer: ANSWER, spent: { steps: 4 } });
    expect(textOf(told)).toBe(ANSWER);
    moved += kinds(told).filter((kind) => kind === "text_discarded").length;
    const again = await elsewhere(serving, by, `/chat/${run}`);
    expect(await new Telling(again).rest()).toEqual(told);
  });
  await fc.assert(property, { numRuns: 15 });
  // Otherwise all that was shown is that runs end.
  expect(moved).toBeGreaterThan(5);
});
