/** What was stored of a source's results is read back by one tool of the same source. */
import { describe, expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import { ToolNode, ToolRegistry } from "../../../../web/src/tools-node.js";
import { connected } from "./connected.js";

describe("the tool", () => {
  test("stands last in the list, reads only, and takes what the proxy's takes", async () => {
    const registry = new ToolRegistry();
    await using files = await connected({}, { registry });
    const tool = files.node.getTools().at(-1);
    expect(tool).toMatchObject({
      name: "files.artifact_read",
      side_effects: "read",
      tags: ["mcp", "files", "artifacts"],
      input_schema: { required: ["uri"] },
    });
    expect(registry.find("files.artifact_read")).toBe(tool);
  });

  test("is not offered where nothing is kept", async () => {
    const none = new NoOpArtifactStore({ warn: () => undefined });
    await using node = new ToolNode({ name: "node", transport: "cli", connection: "node" }, { store: none });
    await node.connect();
    expect(node.getTools().map(({ name }) => name)).toEqual(["node.run"]);
  });

  test("is left out for a tool of the source's own of that name", async () => {
    const tools = [
      { name: "artifact_read", tool_call_template: { call_template_type: "cli", commands: [{ command: "echo own" }] } },
    ];
    const connection = JSON.stringify({ utcp_version: "1.1.0", tools });
    await using files = await connected({ transport: "cli", connection });
    expect(files.node.getTools().map(({ name }) => name)).toEqual(["files.artifact_read"]);
    expect((await files.node.call("artifact_read")).text).toContain("own");
  });
});

describe("reading", () => {
  test("says what an artifact is, by its URI or its id, and shows a part of it", async () => {
    await using files = await connected();
    const id = await files.id("pdf");
    for (const uri of [id, `artifact://${id}`]) {
      expect((await files.node.call("artifact_read", { uri })).value).toContain("PDF, 2.9 KB");
    }
    const log = await files.id("log");
    const { value, artifacts, isError } = await files.node.call("files.artifact_read", {
      uri: log,
      lines: "4000-4001",
    });
    expect(value).toContain("line 4000\nline 4001\n");
    expect([artifacts, isError]).toEqual([[], false]);
  });

  test("stays within the guardrail, however much is asked for", async () => {
    const artifact_extraction = { guardrail: { max_observation_chars: 3000 } };
    await using files = await connected({ artifact_extraction });
    const { text, clamped } = await files.node.call("artifact_read", { uri: await files.id("log"), lines: "1-" });
    expect(Array.from(text).length).toBeLessThanOrEqual(3000);
    expect(clamped).toBe(false);
  });

  test("what is wrong is a result that says what to do", async () => {
    await using files = await connected();
    const { value, isError } = await files.node.call("artifact_read", { uri: "files_000000000000" });
    expect(isError).toBe(true);
    expect(value).toMatchObject({ isError: true, content: expect.stringContaining("There is no artifact") as string });
  });

  test("finds nothing of another user, and nothing of another source", async () => {
    await using files = await connected();
    const ada = { scope: { user_id: "ada" } };
    const id = await files.id("pdf", ada);
    expect((await files.node.call("artifact_read", { uri: id }, ada)).isError).toBe(false);
    expect((await files.node.call("artifact_read", { uri: id }, { scope: { user_id: "bob" } })).isError).toBe(true);
    await using others = await connected({ name: "others" }, { store: files.store });
    expect((await others.node.call("artifact_read", { uri: id }, ada)).isError).toBe(true);
  });

  test("is given up with its signal", async () => {
    await using files = await connected();
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(files.node.call("artifact_read", { uri: "files_000000000000" }, { signal })).rejects.toThrow("enough");
  });
});
