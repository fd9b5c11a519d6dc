/** A user's files over HTTP. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { listed, noise } from "../../artifacts/bytes.js";
import { byHeaders, refused, Visitor } from "../visitor.js";

interface ShownFile {
  readonly id: string;
  readonly name: string;
  readonly versions: number;
}

function served(options: object = {}): SluiceServer {
  const [store, filesStore] = [new MemoryArtifactStore(), new MemoryArtifactStore({ retention: null })];
  return new SluiceServer({ store, filesStore, authenticate: byHeaders, ...options });
}

async function put(visitor: Visitor, name: string, body: BodyInit): Promise<ShownFile> {
  const path = `/files?filename=${encodeURIComponent(name)}`;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return (await visitor.json<{ file: ShownFile }>(path, { method: "POST", body: bytes })).file;
}

const all = async (visitor: Visitor): Promise<readonly ShownFile[]> =>
  (await visitor.json<{ files: ShownFile[] }>("/files")).files;

test("a file is kept beyond the session, read, renamed and deleted with all versions", async () => {
  await using server = served();
  const ada = await Visitor.of(server, { user: "ada" });
  const first = await put(ada, "../sales.csv", "a,b\n1,2\n");
  expect(first).toMatchObject({ name: "sales.csv", versions: 1, mime_type: "text/csv", origin: "uploaded" });
  const second = await put(ada, "sales.csv", "a,b\n3,4\n");
  await ada.end();

  const later = await Visitor.of(server, { user: "ada" });
  expect(await all(later)).toEqual([expect.objectContaining({ id: second.id, versions: 2 })]);
  const bytes = await later.ask(`/files/${second.id}`, { headers: { range: "bytes=4-6" } });
  expect([bytes.status, await bytes.text()]).toEqual([206, "3,4"]);
  expect(bytes.headers.get("content-disposition")).toContain("sales.csv");
  const { versions } = await later.json<{ versions: ShownFile[] }>(`/files/${second.id}/versions`);
  expect(versions.map(({ id }) => id)).toEqual([second.id, first.id]);
  expect(await (await later.ask(`/files/${first.id}`)).text()).toBe("a,b\n1,2\n");
  const meta = await later.json<object>(`/files/${second.id}/meta`);
  expect(meta).toMatchObject({ filename: "sales.csv", size_bytes: 8 });
  expect(JSON.stringify(meta)).not.toContain("scope");

  const patch = { method: "PATCH", headers: { "content-type": "application/json" } };
  const renamed = await later.json<{ file: ShownFile }>(`/files/${second.id}`, {
    ...patch,
    body: '{"filename":"q3.csv"}',
  });
  expect(renamed.file).toMatchObject({ name: "q3.csv", versions: 2 });
  await put(later, "other.csv", "x");
  expect((await later.ask(`/files/${second.id}`, { ...patch, body: '{"filename":"other.csv"}' })).status).toBe(400);
  expect((await later.ask(`/files/${second.id}`, { method: "DELETE" })).status).toBe(204);
  for (const { id } of [first, second]) expect((await later.ask(`/files/${id}`)).status).toBe(410);
  expect((await all(later)).map(({ name }) => name)).toEqual(["other.csv"]);
});

test("another user's file gives the same error as one that does not exist", async () => {
  await using server = served();
  const ada = await Visitor.of(server, { user: "ada", tenant: "one" });
  const other = await Visitor.of(server, { user: "ada", tenant: "two" });
  const { id } = await put(ada, "a.bin", noise(100));
  await put(other, "b.bin", noise(10, 2));
  const missing = id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
  const patch = { method: "PATCH", headers: { "content-type": "application/json" }, body: '{"filename":"x"}' };
  const tries = [
    ["", {}],
    ["", { method: "HEAD" }],
    ["/meta", {}],
    ["/versions", {}],
    ["", patch],
    ["", { method: "DELETE" }],
  ] as const;
  for (const [rest, init] of tries) {
    const [theirs, nowhere] = [
      await other.ask(`/files/${id}${rest}`, init),
      await other.ask(`/files/${missing}${rest}`, init),
    ];
    expect(theirs.status).toBe(404);
    expect([await theirs.text(), [...theirs.headers]]).toEqual([await nowhere.text(), [...nowhere.headers]]);
  }
  expect(await (await ada.ask(`/files/${id}`)).arrayBuffer()).toHaveProperty("byteLength", 100);
});

test("what is too large is refused, and leaves nothing", async () => {
  await using server = served({ files: { max_file_size_mb: 0.001 } });
  const ada = await Visitor.of(server, { user: "ada" });
  const response = await ada.ask("/files?filename=a", { method: "POST", body: noise(2000) });
  expect(response.status).toBe(413);
  expect(await all(ada)).toEqual([]);
  expect(await refused(await ada.ask("/files", { method: "POST", body: "x" }))).toEqual([400, "E_INVALID_ARGUMENT"]);
});

test("files that do not outlive a session are of that session alone", async () => {
  const filesStore = new MemoryArtifactStore({ retention: null });
  await using server = served({ filesStore, files: { persist_files_across_sessions: false } });
  const [one, two] = [await Visitor.of(server, { user: "ada" }), await Visitor.of(server, { user: "ada" })];
  const { id } = await put(one, "a.txt", "x");
  expect(await all(two)).toEqual([]);
  expect((await two.ask(`/files/${id}`)).status).toBe(404);
  expect(await (await one.ask(`/files/${id}`)).text()).toBe("x");
  await put(two, "b.txt", "y");
  await one.end();
  expect((await listed(filesStore.list())).map(({ filename }) => filename)).toEqual(["b.txt"]);
});

test("a server without files has none", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  for (const path of ["/files", "/files/file-0_0123456789ab", "/files?filename=x"]) {
    expect((await ada.ask(path)).status).toBe(404);
  }
});

test("files are listed page by page, by name, whatever happens to others meanwhile", async () => {
  await using server = served();
  const ada = await Visitor.of(server, { user: "ada" });
  const names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];
  for (const name of names.toReversed()) await put(ada, name, name);
  const page = (query: string): Promise<{ files: readonly ShownFile[]; next?: string }> => ada.json(`/files${query}`);
  const first = await page("?limit=2");
  expect([first.files.map(({ name }) => name), first.next]).toEqual([["a.txt", "b.txt"], "b.txt"]);
  await ada.ask(`/files/${first.files[1]?.id}`, { method: "DELETE" });
  const second = await page("?limit=2&after=b.txt");
  expect([second.files.map(({ name }) => name), second.next]).toEqual([["c.txt", "d.txt"], "d.txt"]);
  expect(await page("?limit=2&after=d.txt")).toEqual({ files: [expect.objectContaining({ name: "e.txt" })] });
  expect((await page("")).files).toHaveLength(4);
  for (const limit of ["0", "501", "x"]) {
    expect(await refused(await ada.ask(`/files?limit=${limit}`))).toEqual([400, "E_INVALID_ARGUMENT"]);
  }
});
