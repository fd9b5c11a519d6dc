/** Sources whose resources are in trouble: what is told of it, and what is not. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { refused } from "../visitor.js";
import { calledOnce, CHANGING, listening, program, served, TROUBLED, visitor } from "../sources/serving.js";
import { isSilent } from "../sources/told.js";

const SOURCES = [
  program("troubled", TROUBLED, { timeout_s: 1, retry_policy: { max_attempts: 1 } }),
  program("own", CHANGING),
];

test.each([
  ["fails", 502, "E_TOOL_SERVER"],
  ["dies", 502, "E_TOOL_CONNECTION"],
  ["hangs", 504, "E_TOOL_TIMEOUT"],
])("a source that %s while it is read", async (what, status, code) => {
  const serving = served({ sources: SOURCES });
  const ada = await visitor(serving);
  const answer = await ada.ask(`/resources/troubled/trouble%3A${what}`);
  expect(await answer.clone().text()).not.toContain("/var/lib");
  expect(await refused(answer)).toEqual([status, code]);
  // The host is told, and others are served as before.
  expect(serving.errors).toMatchObject([{ code }]);
  expect((await calledOnce(ada, "own.echo", { message: "hello" })).status).toBe(200);
  expect((await ada.ask("/resources/troubled")).status).toBe(200);
});

test("bytes that are no base64 are an artifact of the text that came", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  const answer = await ada.ask("/resources/troubled/trouble%3Amalformed");
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { contents: [{ kind: "artifact", mime_type: "text/plain" }] },
  ]);
});

test("many who read at the same time what hangs are all answered", async () => {
  const ada = await visitor(served({ sources: SOURCES }));
  const all = Array.from({ length: 20 }, async () => refused(await ada.ask("/resources/troubled/trouble%3Ahangs")));
  for (const answer of await Promise.all(all)) expect(answer[0]).toBeGreaterThanOrEqual(500);
});

test("that a list changed is told to whoever listens, and then it is listed anew", async () => {
  const serving = served({ sources: SOURCES });
  const ada = await visitor(serving);
  const before = await ada.json<{ resources: readonly unknown[] }>("/resources/troubled");
  await using events = await listening(ada);
  const told = events.next("resources_changed");
  await expect
    .poll(async () => {
      await calledOnce(ada, "troubled.change");
      return Promise.race([told, Promise.resolve(null)]);
    })
    .toEqual({ kind: "resources_changed", namespace: "troubled" });
  const after = await ada.json<{ resources: readonly unknown[] }>("/resources/troubled");
  expect(after.resources.length).toBeGreaterThan(before.resources.length);
});

test("of one user's own source no other user is told", async () => {
  const [troubled] = SOURCES;
  if (troubled === undefined) throw new Error("no source");
  const serving = served({ sources: [{ ...troubled, user_files: true }], filesStore: new MemoryArtifactStore() });
  const [ada, bob] = [await visitor(serving), await visitor(serving, "bob")];
  await using silent = await listening(bob);
  await using events = await listening(ada);
  const [told, isQuiet] = [events.next("resources_changed"), isSilent(silent, "resources_changed", 1000)];
  await expect
    .poll(async () => {
      await calledOnce(ada, "troubled.change");
      return Promise.race([told, Promise.resolve(null)]);
    })
    .toMatchObject({ namespace: "troubled" });
  expect(await isQuiet).toBe(true);
});

test("a list of all tools does not wait for ever for a source that hangs", { timeout: 30_000 }, async () => {
  const hanging = program("hanging", `"${process.execPath}" -e "setInterval(() => {}, 1000)"`, {
    timeout_s: 1,
    retry_policy: { max_attempts: 1 },
  });
  const ada = await visitor(served({ sources: [...SOURCES, hanging] }));
  const { tools, unavailable } = await ada.json<{ tools: readonly { source: string }[]; unavailable: unknown }>(
    "/tools",
  );
  expect(new Set(tools.map(({ source }) => source))).toEqual(new Set(["troubled", "own"]));
  expect(unavailable).toMatchObject([{ source: "hanging", error: { code: "E_TOOL_TIMEOUT" } }]);
});
