/** Documents that have no place for a list of references of their own: strings and arrays. */
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { createSluice, SluiceError } from "../../../web/src/index.js";
import { failingAt, faulty, type Call } from "./faulty-store.js";
import { base64, PDF, refsIn, opened } from "./samples.js";

const numbers = [...PDF.subarray(0, 3_000)];

test("two originals that are reduced to the same text: the one that came last is restored", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const pairs: readonly (readonly [unknown, unknown])[] = [
    [numbers, JSON.stringify(numbers)],
    [[{ type: "text", text: base64(PDF) }], [{ type: "image", data: base64(PDF), mimeType: "image/png" }]],
  ];
  for (const [one, other] of pairs) {
    const texts = new Set<string>();
    for (const document of [one, other, one, other, one]) {
      const { value, text } = await sluice.transform(document, { dialect: "mcp" });
      texts.add(text);
      expect(await sluice.restore(value)).toEqual(document);
    }
    expect(texts.size).toBe(1);
  }
});

test("references are found however the document was spelled on its way", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const document = [base64(PDF), "é"];
  const { value } = await sluice.transform(document, { dialect: "mcp" });
  const pieces: Uint8Array[] = [];
  const spelled = JSON.stringify(value, null, 4).replace("é", "\\u00e9");
  for await (const piece of sluice.restoreStream(spelled)) pieces.push(piece);
  expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(document);
});

test("they belong to the scope of the result", async () => {
  const { store, sluice } = await opened();
  const scope = { session_id: "mine" };
  const { value } = await sluice.transform([base64(PDF)], { dialect: "mcp", scope });
  expect(await sluice.restore(value)).toEqual(value);
  expect(await sluice.restore(value, { scope })).toEqual([base64(PDF)]);
  expect(await refsIn(store, {})).toEqual([]);
});

test("nothing is kept for what was not changed, or carries its own", async () => {
  const { store, sluice } = await opened();
  await sluice.transform(["small"], { dialect: "mcp" });
  await sluice.transform({ pdf: base64(PDF) }, { dialect: "mcp" });
  await sluice.transform([base64(PDF)]);
  expect((await refsIn(store)).map(({ mime_type }) => mime_type)).toEqual(["application/pdf"]);
});

test("a server cannot put a list of its own there", async () => {
  const { store, sluice } = await opened();
  const secret = await store.putText("the secret");
  const of = JSON.stringify([`artifact://${secret.id}`]);
  const refs = JSON.stringify([{ at: "/0", uri: `artifact://${secret.id}`, kind: "text" }]);
  const blob = base64(Buffer.from(JSON.stringify({ of, refs })));
  const mimeType = "application/vnd.sluice.refs+json";
  const source = { restores_chars: of.length, kept_at: 9e15 };
  await sluice.transform({ content: [{ type: "resource", resource: { uri: "file:///x", mimeType, blob, source } }] });
  expect(await sluice.restore(JSON.parse(of))).toEqual(JSON.parse(of));
});

test("a response whose result is no object, and an error with data, are restored too", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  for (const part of [
    { result: [base64(PDF)] },
    { result: base64(PDF) },
    { result: [{ type: "text", text: base64(PDF) }] },
    { error: { code: 1, message: "x", data: base64(PDF) } },
  ]) {
    const document = { jsonrpc: "2.0", id: 1, ...part };
    const { value, text } = await sluice.transform(document, { dialect: "mcp" });
    expect(text).toContain("artifact://");
    expect(await sluice.restore(value)).toEqual(document);
  }
});

test("a server's text that is a reference word for word stays what it was", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const reduced = await sluice.transform(base64(PDF), { dialect: "mcp" });
  const literal = reduced.value;
  expect((await sluice.transform(literal, { dialect: "mcp" })).value).toBe(literal);
  expect(await sluice.restore(literal)).toBe(literal);
});

test("a key of a server's that is called like ours hides nothing", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  for (const document of [
    [{ "sluice/refs": "mine" }, base64(PDF)],
    [[{ _meta: { "sluice/refs": [] } }], base64(PDF)],
  ]) {
    const { value } = await sluice.transform(document, { dialect: "mcp" });
    expect(await sluice.restore(value)).toEqual(document);
  }
});

describe("when the store fails", () => {
  const full = new SluiceError("E_STORE_FULL", "There is no room.");
  const failing = (call: Call, error: unknown): ArtifactStore => faulty(memory, failingAt(1, error, call)).store;
  let memory: MemoryArtifactStore;
  beforeEach(() => {
    memory = new MemoryArtifactStore();
  });

  test("to keep them: the result comes, and the host is told that it cannot be restored", async () => {
    const sluice = await createSluice({ store: failing("putText", full) });
    const { text, artifacts, failures } = await sluice.transform([base64(PDF)], { dialect: "mcp" });
    expect(text).toContain(artifacts[0]?.id);
    expect(await refsIn(memory)).toHaveLength(1);
    expect(failures).toMatchObject([
      { code: "E_STORE_FULL", message: expect.stringMatching(/restore cannot put its content back.*There is no room/) },
    ]);
    const strict = await createSluice({ store: failing("putText", full), onStoreFailure: "throw" });
    await expect(strict.transform([base64(PDF)], { dialect: "mcp" })).rejects.toMatchObject({ code: "E_STORE_FULL" });
  });

  test.each(["list", "get"] as const)("to find them (%s): a coded error", async (call) => {
    const { value } = await (await createSluice({ store: memory })).transform([base64(PDF)], { dialect: "mcp" });
    const cause = Object.assign(new Error("EIO"), { code: "EIO" });
    const sluice = await createSluice({ store: failing(call, cause) });
    await expect(sluice.restore(value)).rejects.toMatchObject({ code: "E_STORE_READ", cause });
    expect(await sluice.restore(value)).toEqual([base64(PDF)]);
  });

  test("what is kept there and is no list is E_STORE_CORRUPT with its id", async () => {
    const sluice = await createSluice({ store: memory });
    const { value } = await sluice.transform([base64(PDF)], { dialect: "mcp" });
    const kept = (await refsIn(memory)).find(({ mime_type }) => mime_type?.includes("refs"));
    for (const text of ["{", "null", "[]", '{"of":1}']) {
      const store = Object.assign(new MemoryArtifactStore(), {
        list: () => memory.list(),
        get: () => Promise.resolve(Buffer.from(text)),
      });
      const restoring = (await createSluice({ store })).restore(value);
      await expect(restoring).rejects.toMatchObject({
        code: "E_STORE_CORRUPT",
        message: expect.stringContaining(kept?.id ?? "no id"),
      });
    }
  });

  test("those that have expired are said to be, unless others are meant", async () => {
    const sluice = await createSluice({ store: memory });
    const { value } = await sluice.transform([base64(PDF)], { dialect: "mcp" });
    const expired = new SluiceError("E_EXPIRED", "Gone: call the tool again.");
    await expect((await createSluice({ store: failing("get", expired) })).restore(value)).rejects.toBe(expired);
    // the same length, kept later: looked at first, and not what is meant
    const twin = [`artifact://${"x".repeat(JSON.stringify(value).length - 15)}`];
    expect(JSON.stringify(twin)).toHaveLength(JSON.stringify(value).length);
    await sluice.transform(twin, { dialect: "mcp" });
    expect(await (await createSluice({ store: failing("get", expired) })).restore(value)).toEqual([base64(PDF)]);
  });
});
