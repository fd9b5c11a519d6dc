import { describe, expect, test } from "vitest";
import type { ShownPause } from "../../../../web/playground/engine/contract.js";
import { Pauses } from "../../../../web/playground/engine/pauses.js";
import { ServedPauses } from "../../../../web/playground/engine/serve/pauses.js";

const never = new AbortController().signal;

function asked(payload: Readonly<Record<string, unknown>>): {
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
    const { pauses, open, answer } = asked({ pause_type: "url", url: "https://docs.test/" });
    expect(open).toMatchObject([{ server: "docs", question: "t1" }]);
    pauses.answer(open[0]?.id ?? "", undefined);
    expect(await answer).toBe(true);
  });

  test("of a provider is answered by it, and nobody is asked any more", async () => {
    const { questions, open, answer } = asked(CONSENT);
    questions.consented("another", true);
    expect(open).toHaveLength(1);
    questions.consented("docs", true);
    expect(await answer).toBe(true);
    expect(open).toEqual([]);
  });

  test("is declined where the provider was, or the person does", async () => {
    const given = asked(CONSENT);
    given.questions.consented("docs", false);
    expect(await given.answer).toBeNull();
    const own = asked(CONSENT);
    own.pauses.answer(own.open[0]?.id ?? "", null);
    expect(await own.answer).toBeNull();
  });
});
