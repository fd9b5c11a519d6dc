/** An artifact that a call's arguments name is what the source gets. */
import { access } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import { ToolNode, ToolRegistry } from "../../../../web/src/tools-node.js";
import { connected } from "./connected.js";

const pathIn = (value: unknown): string => String(value).split(" ").at(-1) ?? "";

describe("an artifact of the same source", () => {
  test("goes into an argument in the form that its schema says, and the host is told", async () => {
    await using files = await connected();
    const data = `artifact://${await files.id("pdf")}`;
    const { value } = await files.node.call("upload", { data, note: "kept 1.10" });
    expect(value).toEqual({ same: true, note: "kept 1.10", uploads: 1 });
    const [, expanded] = files.events;
    expect(expanded).toEqual({
      kind: "expanded",
      tool: "files.upload",
      id: data.slice(11),
      path: "data",
      form: "base64",
    });
  });

  test("goes into another as `?as=` says; else the call is not made, and the answer says how", async () => {
    await using files = await connected();
    const { id } = await files.store.putText("a text of theirs", { namespace: "files" });
    const uri = `artifact://${id}`;
    const refused = await files.node.call("upload", { note: uri });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain("?as=base64");
    const { value } = await files.node.call("upload", { note: `${uri}?as=text` });
    expect(value).toMatchObject({ note: "a text of theirs", uploads: 1 });
  });

  test("goes into one that the server names a file as a data URI", async () => {
    await using files = await connected();
    const { value } = await files.node.call("see", { image: `artifact://${await files.id("pdf")}` });
    expect(value).toMatch(/^data:application\/pdf;base64,/);
  });

  test("is the path of a private copy where configuration says so, which goes with the source", async () => {
    const artifact_extraction = { interceptor: { arguments: { open: { path: "path" as const } } } };
    const files = await connected({ artifact_extraction });
    const { value } = await files.node.call("open", { path: `artifact://${await files.id("pdf")}` });
    expect(value).toMatch(/^true 400 /);
    await files.node.close();
    await expect(access(pathIn(value))).rejects.toThrow("ENOENT");
  });
});

describe("the call is not made", () => {
  test("for an artifact that nobody knows, or that is another user's", async () => {
    await using files = await connected();
    const id = await files.id("pdf", { scope: { user_id: "ada" } });
    for (const data of [`artifact://${id}`, "artifact://files_000000000000"]) {
      const { isError, text } = await files.node.call("upload", { data }, { scope: { user_id: "bob" } });
      expect([isError, text]).toEqual([true, expect.stringContaining("there is no such artifact here")]);
    }
  });

  test("for one of another source, unless a rule shares it with this tool", async () => {
    await using files = await connected();
    const data = `artifact://${await files.id("pdf")}`;
    await using alone = await connected({ name: "drive" }, { store: files.store });
    expect((await alone.node.call("upload", { data })).isError).toBe(true);
    const interceptor = { share: [{ from: "files", to: "drive.upload" }] };
    await using drive = await connected(
      { name: "drive", artifact_extraction: { interceptor } },
      { store: files.store },
    );
    expect((await drive.node.call("upload", { data })).value).toMatchObject({ same: true, uploads: 1 });
    expect((await drive.node.call("open", { path: `${data}?as=text` })).isError).toBe(true);
  });

  test("when the store cannot read it, of which the host is told", async () => {
    await using files = await connected();
    const id = await files.id("pdf");
    files.store.openReader = async () => Promise.reject(new Error("/secret/path is broken"));
    const { isError, text } = await files.node.call("upload", { data: `artifact://${id}` });
    expect([isError, text]).toEqual([true, expect.stringContaining("the store could not read it")]);
    expect(text).not.toContain("secret");
  });
});

test("arguments that name nothing go on as they are", async () => {
  await using files = await connected();
  const note = "see artifact://somewhere else";
  expect((await files.node.call("upload", { note })).value).toMatchObject({ note });
});

test("arguments that JSON cannot say are refused with a code", async () => {
  await using files = await connected();
  const note: unknown[] = [];
  note.push(note);
  for (const bad of [note, 10n]) {
    await expect(files.node.call("upload", { note: bad })).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  }
});

test("so are those that are something else once they are written", async () => {
  await using files = await connected();
  for (const odd of [new Date(0), { toJSON: () => [1] }, { toJSON: () => null }]) {
    const call = files.node.call("upload", odd as unknown as Readonly<Record<string, unknown>>);
    await expect(call).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  }
});

test("closing ends the waiting for a store that hangs", async () => {
  await using files = await connected();
  const id = await files.id("pdf");
  let asked: (() => void) | undefined;
  const asking = new Promise<void>((resolve) => (asked = resolve));
  files.store.stat = async () => {
    asked?.();
    return new Promise(() => undefined);
  };
  const call = files.node.call("upload", { data: `artifact://${id}` });
  call.catch(() => undefined);
  await asking;
  await files.node.close();
  await expect(call).rejects.toThrow(/was closed/);
});

test("a store that fails is an error where configuration wants one", async () => {
  const artifact_extraction = { interceptor: { on_store_failure: "error" as const } };
  await using files = await connected({ artifact_extraction });
  files.store.openWriter = async () => Promise.reject(new Error("the disk is full"));
  await expect(files.node.call("pdf")).rejects.toMatchObject({ code: "E_STORE_WRITE" });
});

/** What was stored of a source's results is read back by a tool of the same source. */
describe("the tool", () => {
  test("stands behind the source's own, before the one that edits, reads only, and takes what the proxy's takes", async () => {
    const registry = new ToolRegistry();
    await using files = await connected({}, { registry });
    const tool = files.node.getTools().at(-2);
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
    expect(files.node.getTools().map(({ name }) => name)).toEqual(["files.artifact_read", "files.artifact_edit"]);
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
