/** Arguments that a tool does not take: whoever called is told, in a result or as an error, and the source goes on. */
import { expect, test } from "vitest";
import { EVERYTHING } from "../../cli/serve/serving.js";
import { calledOnce, program, served, visitor } from "../sources/serving.js";
import { refused } from "../visitor.js";

test.each([
  ["of another type", { message: 7 }],
  ["that are missing", {}],
])("arguments %s are a result that says so, where the server answers with one", async (_, args) => {
  const connection = EVERYTHING.map((word) => `"${word}"`).join(" ");
  const ada = await visitor(served({ sources: [program("every", connection)] }));
  const answer = await calledOnce(ada, "every.echo", args);
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { is_error: true, artifacts: [], observation: expect.stringContaining("message") as string },
  ]);
  expect(await (await calledOnce(ada, "every.echo", { message: "hello" })).json()).toMatchObject({ is_error: false });
});

test("arguments that the protocol refuses are an error of whoever called, with the server's reason", async () => {
  const serving = served({ sources: [program("own")] });
  const ada = await visitor(serving);
  const answer = await calledOnce(ada, "own.protocol_error", { code: -32_602, message: "city must be Oslo" });
  expect(await answer.clone().text()).toContain("city must be Oslo");
  expect(await refused(answer)).toEqual([400, "E_TOOL_CLIENT"]);
  expect(serving.errors).toEqual([]);
  expect((await calledOnce(ada, "own.progress")).status).toBe(200);
});
