/** A server with a store that keeps nothing. */
import { expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../web/src/index.js";
import { calledOnce, CHANGING, listening, program, served, visitor } from "./sources/serving.js";
import { refused, type ShownArtifact } from "./visitor.js";

interface Result {
  readonly observation: string;
  readonly artifacts: readonly (ShownArtifact & { readonly source: Readonly<Record<string, unknown>> })[];
}

test("a call is answered, says what was not stored, and names nothing that could be had", async () => {
  const warnings: string[] = [];
  const store = new NoOpArtifactStore({ warn: (sentence) => void warnings.push(sentence) });
  const serving = served({ store, sources: [program("other", CHANGING)] });
  const ada = await visitor(serving);
  await using events = await listening(ada);
  const answer = await calledOnce(ada, "other.pdf");
  const { observation, artifacts } = (await answer.json()) as Result;
  expect([answer.status, artifacts.length]).toEqual([200, 1]);
  const [{ id, source } = { id: "", source: {} }] = artifacts;
  expect(source).toMatchObject({ truncated: true, warning: expect.stringContaining("not stored") as string });
  expect(observation).toContain("not stored");
  expect(await refused(await ada.ask(`/artifacts/${id}`))).toEqual([404, "E_NOT_FOUND"]);
  expect((await ada.list("?trace=*")).artifacts).toEqual([]);
  expect([warnings.length, await ada.end()]).toEqual([1, 0]);
  expect((await events.rest()).map(({ kind }) => kind)).toEqual(["session_ended"]);
});

test("what is small is shown as it is", async () => {
  const store = new NoOpArtifactStore({ warn: () => undefined });
  const ada = await visitor(served({ store, sources: [program("other", CHANGING)] }));
  const answer = await calledOnce(ada, "other.echo", { message: "hello" });
  expect(await answer.json()).toMatchObject({ observation: '"hello"', artifacts: [] });
});
