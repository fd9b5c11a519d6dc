/** The tool behind a proxy, in a Sluice and in a ToolNode: scope, expiry, failures, and the way of an edit to the next tool. */
import { describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, NoOpArtifactStore } from "../../../../web/src/index.js";
import { ArtifactEditor } from "../../../../web/src/mcp/artifact-editor/artifact-editor.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { ToolNode, type ToolNodeEvent } from "../../../../web/src/tools-node.js";
import { wordsOf } from "../artifact-reader/artifacts.js";
import { namesOf, Talk, textOf, uriIn } from "../interceptor/talk.js";

const TABLE = `id,name,note\n${Array.from({ length: 9000 }, (_, at) => `${at},"row ${at}","${"n".repeat(20)}"`).join("\n")}\n`;
const PAGE = `<html><table>\n${"<tr><td>cell</td></tr>\n".repeat(13_000)}</table></html>\n`;

const newUri = (words: string): string => /\[sluice\] (artifact:\/\/\S+) is /.exec(words)?.[1] ?? words;

async function toolsOf(store: MemoryArtifactStore, scope?: object): Promise<(args: object) => Promise<string>> {
  const sluice = await createSluice({ store });
  const [, editor] = sluice.tools({ namespace: "ns", ...(scope !== undefined && { scope }) });
  return async (args) => (await editor?.call(args))?.content[0].text ?? "";
}

async function scoped(store: MemoryArtifactStore): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const { id, scope } of store.list()) all.push([id, scope.user_id]);
  return all;
}

describe("behind a proxy", () => {
  test.each([
    ["a table", TABLE, { add_rows: [{ id: 9000, name: "new" }] }, `${TABLE}9000,new,\n`],
    [
      "a page",
      PAGE,
      { old_string: "</table></html>", new_string: "<tr><td>new</td></tr>\n</table></html>" },
      PAGE.replace("</table>", "<tr><td>new</td></tr>\n</table>"),
    ],
  ])("%s of 300 KB is stored, changed, and given to the next tool", async (_what, content, edit, wanted) => {
    const talk = new Talk();
    const put = { name: "put", inputSchema: { type: "object", properties: { text: { type: "string" } } } };
    expect(namesOf(await talk.list(put))).toEqual(["put", "srv_artifact_read", "srv_artifact_edit"]);
    const uri = uriIn(await talk.call("get", { content: [{ type: "text", text: content }] }));
    const answer = await talk.call("srv_artifact_edit", {}, { uri, ...edit });
    const copy = newUri(textOf(answer));
    expect(copy).toMatch(/^artifact:\/\/srv_/);
    expect(JSON.stringify(answer).length).toBeLessThan(4000);
    const { forwarded } = await talk.say({
      jsonrpc: "2.0",
      id: 99,
      method: "tools/call",
      params: { name: "put", arguments: { text: `${copy}?as=text` } },
    });
    expect(JSON.parse(forwarded ?? "{}")).toMatchObject({ params: { arguments: { text: wanted } } });
    const { result } = await talk.ask("resources/list", {}, { resources: [] });
    expect(JSON.stringify(result)).toContain(copy);
    expect(talk.events).toContainEqual(
      expect.objectContaining({ kind: "stored", tool: "srv_artifact_edit", bytesIn: 0 }),
    );
  });

  test("a server's own tool of that name keeps it, and ours gets a number", async () => {
    const talk = new Talk();
    const listed = await talk.list({ name: "srv_artifact_edit" });
    expect(namesOf(listed)).toEqual(["srv_artifact_edit", "srv_artifact_read", "srv_artifact_edit_2"]);
    const params = { name: "srv_artifact_edit", arguments: {} };
    expect((await talk.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params })).forwarded).toBeDefined();
  });
});

test("behind a ToolNode, it is told of and given to the source's own tool", async () => {
  const store = new MemoryArtifactStore();
  const events: ToolNodeEvent[] = [];
  const artifact_extraction = { interceptor: { arguments: { run: { "args.*": "path" } } } } as const;
  const config = { name: "shell", transport: "cli", connection: "cat", artifact_extraction } as const;
  const node = new ToolNode(config, { store, onEvent: (event) => events.push(event) });
  await node.connect();
  const scope = { user_id: "ada" };
  const { id } = await store.putText("one\ntwo\n", { namespace: "shell", scope });
  const args = { uri: id, old_string: "two", new_string: "2" };
  const edited = await node.call("shell.artifact_edit", args, { scope });
  expect(edited).toMatchObject({ isError: false, artifacts: [{ source: { derived_from: id } }] });
  expect(events).toContainEqual(expect.objectContaining({ kind: "stored", tool: "shell.artifact_edit" }));
  const { value } = await node.call("shell.run", { args: [`artifact://${edited.artifacts[0]?.id}`] }, { scope });
  expect(value).toBe("one\n2\n");
  expect((await node.call("shell.artifact_edit", args, { scope: { user_id: "bob" } })).isError).toBe(true);
  await node.close();
});

describe("an artifact", () => {
  test("of someone else is not found, and nothing is stored for anyone else", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("secret", { namespace: "ns", scope: { user_id: "ada" } });
    const args = { uri: `artifact://${id}`, old_string: "secret", new_string: "known" };
    for (const scope of [undefined, { user_id: "bob" }]) {
      expect(await (await toolsOf(store, scope))(args)).toContain("There is no artifact");
    }
    const copy = newUri(await (await toolsOf(store, { user_id: "ada" }))(args)).replace("artifact://", "");
    expect(await scoped(store)).toEqual([
      [id, "ada"],
      [copy, "ada"],
    ]);
  });

  test("that has expired is not worth another try", async () => {
    let now = 1_800_000_000_000;
    const store = new MemoryArtifactStore({ clock: () => now, retention: { ttl_seconds: 60 } });
    const { id } = await store.putText("a text", { namespace: "ns" });
    now += 3_600_000;
    const editor = new ArtifactEditor(new ArtifactSource(store, {}, "ns"), { tool: "e", readTool: "r" });
    const words = wordsOf(await editor.call({ uri: id, old_string: "a", new_string: "b" }));
    expect(words).toMatch(/has expired\. Do not retry/);
  });
});

describe("nothing is left behind", () => {
  test("of an edit that is given up", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("a".repeat(9_000_000), { namespace: "ns" });
    const editor = new ArtifactEditor(new ArtifactSource(store, {}, "ns"), { tool: "e", readTool: "r" });
    const signal = AbortSignal.timeout(20);
    const args = { uri: id, old_string: "a", new_string: "bb", replace_all: true };
    await expect(editor.call(args, { signal })).rejects.toThrow(/timeout/);
    expect(await scoped(store)).toHaveLength(1);
  });

  test("of one whose store takes no more", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("a".repeat(900), { namespace: "ns" });
    const failing = new ArtifactSource(store, {}, "ns");
    failing.openWriter = async (origin, info) => {
      const writer = await ArtifactSource.prototype.openWriter.call(failing, origin, info);
      writer.write = () => Promise.reject(Object.assign(new Error("/disk"), { code: "ENOSPC" }));
      return writer;
    };
    const editor = new ArtifactEditor(failing, { tool: "e", readTool: "r" });
    const result = await editor.call({ uri: id, old_string: "a".repeat(900), new_string: "b" });
    expect(result.isError).toBe(true);
    expect(wordsOf(result)).toMatch(/The store is full/);
    expect(wordsOf(result)).not.toContain("/disk");
    expect(await scoped(store)).toHaveLength(1);
  });

  test("where the store keeps nothing, and that is said", async () => {
    const kept = new MemoryArtifactStore();
    const { id } = await kept.putText("a text", { namespace: "ns" });
    const source = new ArtifactSource(kept, {}, "ns");
    const nothing = new ArtifactSource(new NoOpArtifactStore({ warn: () => undefined }), {}, "ns");
    source.openWriter = (origin, info) => nothing.openWriter(origin, info);
    const editor = new ArtifactEditor(source, { tool: "e", readTool: "r" });
    expect(wordsOf(await editor.call({ uri: id, old_string: "a", new_string: "b" }))).toContain(
      "no store that keeps artifacts",
    );
  });
});
