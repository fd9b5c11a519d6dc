import { once } from "node:events";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { sentEvents, type Told } from "../../../../web/src/server/sessions/session-work.js";

const forever = new AbortController().signal;

interface Numbered extends Told {
  readonly number: number;
}

const event = (kind: string, number: number): Numbered => ({ kind, number });

async function all(events: AsyncIterable<{ readonly data: Told }>): Promise<readonly Told[]> {
  const told: Told[] = [];
  for await (const { data } of events) told.push(data);
  return told;
}

test("all is told in order but what a later one says better, and what it comes to is last", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom("passing", "paused"), { maxLength: 40 }), async (kinds) => {
      const sent = kinds.map(event);
      const told = await all(
        sentEvents(
          async (tell) => {
            sent.forEach(tell);
            return { kind: "result" };
          },
          "passing",
          forever,
        ),
      );
      const expected = sent.filter(({ kind }, index) => kind !== "passing" || sent[index + 1]?.kind !== "passing");
      expect(told).toEqual([...expected, { kind: "result" }]);
    }),
  );
});

test("what a slow listener does not take is bounded", async () => {
  const told = await all(
    sentEvents(
      async (tell) => {
        for (let number = 0; number < 5000; number += 1) tell(event(number % 2 === 0 ? "passing" : "other", number));
        return { kind: "result" };
      },
      "passing",
      forever,
    ),
  );
  expect(told.filter(({ kind }) => kind === "passing").length).toBeLessThanOrEqual(128);
  expect(told.at(-1)).toEqual({ kind: "result" });
});

test("events come while the work goes on", async () => {
  const going = new AbortController();
  const work = async (tell: (told: Told) => void): Promise<Told> => {
    tell(event("paused", 1));
    await once(going.signal, "abort");
    return { kind: "result" };
  };
  const events = sentEvents(work, "passing", forever);
  expect(await events.next()).toEqual({ done: false, value: { data: event("paused", 1) } });
  const last = events.next();
  going.abort();
  expect(await last).toEqual({ done: false, value: { data: { kind: "result" } } });
});

test.each(["the listener leaves", "the answer is given up"])("%s: so is the work", async (who) => {
  const given = new AbortController();
  let signal: AbortSignal | undefined;
  const events = sentEvents(
    async (tell, own) => {
      signal = own;
      tell(event("paused", 1));
      await once(own, "abort");
      return { kind: "failed" };
    },
    "passing",
    given.signal,
  );
  await events.next();
  if (who === "the listener leaves") await events.return(undefined);
  else given.abort();
  expect(signal?.aborted).toBe(true);
});
