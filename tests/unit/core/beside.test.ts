/** Documents that have no place for a list of references of their own: strings and arrays. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice } from "../../../web/src/index.js";
import { base64, PDF, refsIn } from "./samples.js";

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
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const scope = { session_id: "mine" };
  const { value } = await sluice.transform([base64(PDF)], { dialect: "mcp", scope });
  expect(await sluice.restore(value)).toEqual(value);
  expect(await sluice.restore(value, { scope })).toEqual([base64(PDF)]);
  expect(await refsIn(store, {})).toEqual([]);
});

test("nothing is kept for what was not changed, or carries its own", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  await sluice.transform(["small"], { dialect: "mcp" });
  await sluice.transform({ pdf: base64(PDF) }, { dialect: "mcp" });
  await sluice.transform([base64(PDF)]);
  expect((await refsIn(store)).map(({ mime_type }) => mime_type)).toEqual(["application/pdf"]);
});

test("a server cannot put a list of its own there", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
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
