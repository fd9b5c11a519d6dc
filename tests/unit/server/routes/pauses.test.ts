import { expect, test } from "vitest";
import { memoryState } from "../../../../web/src/serve.js";
import { refused } from "../visitor.js";
import { called, calledOnce, elsewhere, posted, program, served, visitor, type Serving } from "../sources/serving.js";
import type { Told } from "../sources/told.js";

const ASKING = "lab.test_input_required_result_elicitation";
const SHARED = { sources: [program("lab")], secret: "a secret of thirty-two characters" };

type Paused = Told & { readonly pause: string };

function answer(value: unknown): ReturnType<typeof posted> {
  return posted({ answer: value });
}

test("a question is told, and its answer goes to the call", async () => {
  const ada = await visitor(served(SHARED));
  await using telling = await called(ada, ASKING);
  const paused = (await telling.next("paused")) as Paused;
  expect(paused).toMatchObject({
    reason: "await_input",
    payload: { pause_type: "elicitation", message: "What is your name?", source: "lab" },
  });
  expect((await ada.ask(`/pauses/${paused.pause}`, answer({ name: "Ada" }))).status).toBe(204);
  expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
});

test("it is answered in whichever process the answer arrives", async () => {
  const state = memoryState();
  const [first, second]: Serving[] = [served({ ...SHARED, state }), served({ ...SHARED, state })];
  if (first === undefined || second === undefined) throw new Error("two servers");
  const ada = await visitor(first);
  await using telling = await called(ada, ASKING);
  const { pause } = (await telling.next("paused")) as Paused;
  expect((await elsewhere(second, ada, `/pauses/${pause}`, answer({ name: "Ada" }))).status).toBe(204);
  expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
});

test("a question of one session is none of another's, nor of the same user's", async () => {
  const serving = served(SHARED);
  const [ada, again, bob] = [await visitor(serving), await visitor(serving), await visitor(serving, "bob")];
  await using telling = await called(ada, ASKING);
  const { pause } = (await telling.next("paused")) as Paused;
  const unknown = await (await bob.ask("/pauses/AAAAAAAAAAAAAAAAAAAAAA", answer(null))).text();
  for (const other of [again, bob]) {
    const response = await other.ask(`/pauses/${pause}`, answer({ name: "Eve" }));
    expect([response.status, await response.text()]).toEqual([404, unknown]);
  }
  await ada.ask(`/pauses/${pause}`, answer({ name: "Ada" }));
  expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
  expect(await refused(await ada.ask(`/pauses/${pause}`, answer(null)))).toEqual([404, "E_NOT_FOUND"]);
});

test("null declines", async () => {
  const ada = await visitor(served(SHARED));
  await using telling = await called(ada, "lab.test_input_required_result_multi_round");
  const { pause } = (await telling.next("paused")) as Paused;
  await ada.ask(`/pauses/${pause}`, answer(null));
  // The fixture takes no for an answer without a name.
  expect((await telling.rest()).at(-1)).toMatchObject({ kind: "failed" });
});

test("a client that wants one answer is not asked", async () => {
  const ada = await visitor(served({ sources: [program("lab", undefined, { timeout_s: 2 })], secret: SHARED.secret }));
  const response = await calledOnce(ada, ASKING);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.text()).not.toContain("paused");
});

test.each([
  ["an id that is none", "/pauses/..%2fother", answer(1), 404, "E_NOT_FOUND"],
  ["an id with another session's in it", "/pauses/x%20y", answer(1), 404, "E_NOT_FOUND"],
  ["no answer", "/pauses/AAAAAAAAAAAAAAAAAAAAAA", posted([]), 400, "E_INVALID_ARGUMENT"],
  ["a form", "/pauses/AAAAAAAAAAAAAAAAAAAAAA", { method: "POST", body: "answer=1" }, 415, "E_INVALID_ARGUMENT"],
])("%s is refused", async (_, path, init, status, code) => {
  const ada = await visitor(served(SHARED));
  expect(await refused(await ada.ask(path, init))).toEqual([status, code]);
});

test("an answer that is too large is refused, and the question waits on", async () => {
  const ada = await visitor(served(SHARED));
  await using telling = await called(ada, ASKING);
  const { pause } = (await telling.next("paused")) as Paused;
  const large = await ada.ask(`/pauses/${pause}`, answer({ name: "x".repeat(300_000) }));
  expect(await refused(large)).toEqual([413, "E_TOO_LARGE"]);
  expect((await ada.ask(`/pauses/${pause}`, answer({ name: "Ada" }))).status).toBe(204);
  expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
});
