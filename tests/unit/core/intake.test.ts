/** What the store does wrong must not become anyone's loss. */
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactWriter } from "../../../web/src/artifacts/store.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import {
  createSluice,
  RetainingArtifactStore,
  TieredArtifactStore,
  type AnswerRef,
  type Sluice,
  type Transformed,
} from "../../../web/src/index.js";
import { failingAt, faulty, type Fault, type Watched } from "./faulty-store.js";
import { base64, longestRun, PDF, PNG, prose, refsIn, sha256, textResult } from "./samples.js";

const FULL = new SluiceError("E_STORE_FULL", "There is no room: make some.");
const WARNING = "Content not stored. There is no room: make some (E_STORE_FULL).";
const INPUT = { pdf: base64(PDF), log: prose(30_000), png: base64(PNG), note: "kept" };

interface Opened extends Watched {
  readonly memory: MemoryArtifactStore;
  readonly sluice: Sluice;
}

async function opened(
  fault: Fault,
  options: { readonly strict?: boolean; readonly config?: object } = {},
): Promise<Opened> {
  const memory = new MemoryArtifactStore();
  const watched = faulty(memory, fault);
  const onStoreFailure = options.strict === true ? "throw" : "answer";
  const sluice = await createSluice({ store: watched.store, onStoreFailure, config: { ...options.config } });
  return { ...watched, memory, sluice };
}

const isStored = ({ source }: AnswerRef): boolean => source["truncated"] !== true;

/** What is promised of every answer, however the store failed. */
async function expectSound({ memory, open }: Opened, answer: Transformed): Promise<void> {
  expect(open.size).toBe(0);
  expect(longestRun(answer.text)).toBeLessThan(200);
  const kept = new Map((await refsIn(memory)).map((ref) => [ref.id, ref.sha256]));
  for (const ref of answer.artifacts) {
    expect(kept.get(ref.id)).toBe(isStored(ref) ? ref.sha256 : undefined);
    if (isStored(ref)) continue;
    expect(ref.id).toMatch(/^truncated_[0-9a-f]{12}$/);
    expect(ref.source).toMatchObject({ truncated: true, original_size: ref.size_bytes });
  }
}

describe.each([
  ["openWriter", "openWriter", 1, 0],
  ["the second openWriter", "openWriter", 2, 1],
  ["the first write", "write", 1, 0],
  ["close", "close", 1, 0],
  ["the last close", "close", 3, 2],
] as const)("a store that fails at %s", (_, call, nth, lost) => {
  test("loses that one artifact, and the answer says so", async () => {
    const all = await opened(failingAt(nth, FULL, call));
    const answer = await all.sluice.transform(INPUT, { tool: "t" });
    expect(answer.failures).toEqual([FULL]);
    expect(answer.artifacts.map(isStored)).toEqual([0, 1, 2].map((index) => index !== lost));
    expect(answer.artifacts[lost]?.source).toMatchObject({ tool: "t", warning: WARNING });
    expect(answer.artifacts.map(({ size_bytes }) => size_bytes)).toEqual([
      PDF.length,
      prose(30_000).length,
      PNG.length,
    ]);
    const name = ["pdf", "log", "png"][lost] ?? "";
    const { id, mime_type, size_bytes, filename } = answer.artifacts[lost] as AnswerRef;
    expect(answer.value).toMatchObject({
      note: "kept",
      [name]: {
        artifact: { id, mime_type, size_bytes, filename, source: { warning: WARNING, truncated: true } },
        summary: expect.stringMatching(/Note: content not stored\. It.* cannot be read back\.$/),
      },
    });
    await expectSound(all, answer);
  });

  test("gives a host a valid result that offers nothing that is not there", async () => {
    const all = await opened(failingAt(nth, FULL, call));
    const answer = await all.sluice.transform(textResult(JSON.stringify(INPUT)), { dialect: "mcp" });
    expect(CallToolResultSchema.safeParse(answer.value).error).toBeUndefined();
    expect(answer.failures).toEqual([FULL]);
    await expectSound(all, answer);
    await expect(all.sluice.restore(answer.value)).rejects.toMatchObject({
      code: "E_NOT_FOUND",
      message: expect.stringMatching(/truncated_\w+ was never stored.*call the tool again/),
    });
  });

  test("streams on", async () => {
    const all = await opened(failingAt(nth, FULL, call));
    const stream = all.sluice.open();
    const bytes = Buffer.from(JSON.stringify(INPUT));
    for (let at = 0; at < bytes.length; at += 5_000) await stream.write(bytes.subarray(at, at + 5_000));
    const answer = await stream.close();
    expect(answer.value).toMatchObject({ note: "kept" });
    expect(answer.failures).toEqual([FULL]);
    await expectSound(all, answer);
    expect((await all.sluice.transform(INPUT)).failures).toEqual([]);
  });

  test.each(["observation", "mcp"] as const)("fails the transform where failures are thrown (%s)", async (dialect) => {
    const all = await opened(failingAt(nth, FULL, call), { strict: true });
    await expect(all.sluice.transform(INPUT, { dialect })).rejects.toBe(FULL);
    expect(all.open.size).toBe(0);
    const { artifacts, failures } = await all.sluice.transform(INPUT, { dialect });
    expect(artifacts.map(isStored)).toEqual([true, true, true]);
    expect(failures).toEqual([]);
  });
});

describe("the ref of what was not stored", () => {
  test("has the hash of the content when all of it was seen", async () => {
    const { sluice } = await opened(failingAt(1, FULL, "openWriter"));
    const [ref] = (await sluice.transform({ pdf: base64(PDF) })).artifacts;
    expect(ref).toMatchObject({ id: `truncated_${sha256(PDF).slice(0, 12)}`, sha256: sha256(PDF) });
  });

  test("has it for a small content, whenever the store refuses", async () => {
    for (const call of ["openWriter", "write", "close"] as const) {
      const { sluice } = await opened(failingAt(1, FULL, call));
      expect((await sluice.transform({ png: base64(PNG) })).artifacts).toMatchObject([{ sha256: sha256(PNG) }]);
    }
  });

  test("claims no hash of a large content that the store took and lost, and no two share an id", async () => {
    const { sluice } = await opened((call) => {
      if (call === "close") throw FULL;
    });
    const { artifacts } = await sluice.transform([base64(PDF), base64(PDF)]);
    expect(artifacts).toMatchObject([{ sha256: null }, { sha256: null }]);
    expect(artifacts.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^truncated_[0-9a-f]{12}$/),
      expect.stringMatching(/^truncated_[0-9a-f]{12}$/),
    ]);
    expect(artifacts[0]?.id).not.toBe(artifacts[1]?.id);
  });

  test("has scope, namespace, type and name like any, and no reference to what stands in it", async () => {
    const scope = { session_id: "s-7" };
    const { sluice } = await opened(failingAt(1, FULL, "close"));
    const resource = { uri: "file:///q3.pdf", blob: base64(PDF), mimeType: "application/pdf" };
    const blocks = { content: [{ type: "resource", resource }] };
    const { artifacts, text } = await sluice.transform(blocks, { scope, namespace: "files" });
    expect(artifacts).toMatchObject([{ scope, namespace: "files", mime_type: "application/pdf", filename: "q3.pdf" }]);
    expect(text).not.toContain("s-7");
  });

  test("repeats a coded error's sentence, never that of the system", async () => {
    const cause = Object.assign(new Error("ENOSPC: no space left, write '/home/me/token'"), { code: "ENOSPC" });
    for (const call of ["openWriter", "write", "close"] as const) {
      const { sluice } = await opened(failingAt(1, cause, call));
      const { text, artifacts, failures } = await sluice.transform({ pdf: base64(PDF) });
      expect(failures).toMatchObject([{ name: "SluiceError", code: "E_STORE_FULL", cause }]);
      expect(artifacts[0]?.source["warning"]).toMatch(
        /^Content not stored\. The store is full: .* \(E_STORE_FULL\)\.$/,
      );
      expect(text + JSON.stringify(artifacts)).not.toContain("token");
    }
  });

  test("is short, whatever the store says", async () => {
    const { sluice } = await opened(failingAt(1, new SluiceError("E_STORE_WRITE", "x".repeat(1e6)), "close"));
    expect((await sluice.transform({ pdf: base64(PDF) })).text.length).toBeLessThan(1_000);
  });
});

test("a text is stored although what stands in it is not, and restoring tells before the first byte", async () => {
  const log = `${prose(15_000)}${base64(PDF)} ${prose(15_000)}`;
  // the run is closed before the text around it
  const all = await opened(failingAt(1, FULL, "close"));
  const answer = await all.sluice.transform({ log }, { dialect: "mcp" });
  expect(new Set(answer.artifacts.map(isStored))).toEqual(new Set([false, true]));
  await expectSound(all, answer);
  const pieces: Uint8Array[] = [];
  const restoring = (async (): Promise<void> => {
    for await (const piece of all.sluice.restoreStream(answer.text)) pieces.push(piece);
  })();
  await expect(restoring).rejects.toMatchObject({
    code: "E_NOT_FOUND",
    message: expect.stringContaining("never stored"),
  });
  expect(pieces).toEqual([]);
});

test("a text that is not stored lists no references: there is nothing to put them back into", async () => {
  const log = `${prose(15_000)}${base64(PDF)} ${prose(15_000)}`;
  const all = await opened(failingAt(2, FULL, "close"));
  const { artifacts } = await all.sluice.transform({ log });
  const text = artifacts.find((ref) => !isStored(ref));
  expect(text).toMatchObject({ mime_type: "text/plain", source: { description: expect.any(String), truncated: true } });
  expect(text?.source).not.toHaveProperty("references");
});

test("failures are listed once each, however many artifacts they cost", async () => {
  const { sluice, calls } = await opened((call) => {
    if (call === "openWriter") throw FULL;
  });
  const pictures = Array.from({ length: 40 }, (_, number) => base64(Buffer.concat([PNG, Buffer.of(number)])));
  const { artifacts, failures } = await sluice.transform(pictures);
  expect(artifacts).toHaveLength(40);
  expect(calls.filter((call) => call === "openWriter")).toHaveLength(40);
  expect(failures).toEqual([FULL]);
});

test("of very many different failures some are listed", async () => {
  let count = 0;
  const { sluice } = await opened((call) => {
    if (call === "openWriter") throw new SluiceError("E_STORE_WRITE", `Failure ${(count += 1)}.`);
  });
  const { failures } = await sluice.transform(Array.from({ length: 40 }, () => base64(PNG)));
  expect(failures).toHaveLength(32);
});

describe("the segment that ends last", () => {
  const resource = { uri: "file:///chart.png", blob: base64(PNG), mimeType: "image/png" };
  const image = { content: [{ type: "resource", resource }] };
  const ended = async ({ sluice }: Opened) => {
    await using stream = sluice.open({ dialect: "mcp", tool: "draw" });
    await stream.write(new TextEncoder().encode(JSON.stringify(image)));
    return await stream.end();
  };

  test("is stored with its name, in one record", async () => {
    const updates: unknown[] = [];
    const all = await opened((call) => void (call === "update" && updates.push(call)));
    await using gated = await ended(all);
    const { artifacts } = await gated.answer();
    expect(artifacts).toMatchObject([{ filename: "chart.png", source: { tool: "draw" } }]);
    expect(updates).toEqual([]);
    expect(await refsIn(all.memory)).toMatchObject([{ id: artifacts[0]?.id, filename: "chart.png" }]);
  });

  test("is in each further answer, also after one that was given up", async () => {
    const all = await opened(() => undefined);
    await using gated = await ended(all);
    await expect(gated.answer({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    const first = await gated.answer();
    const other = await gated.answer({ tool: "paint", scope: { user_id: "ada" } });
    expect(first.artifacts.map(isStored)).toEqual([true]);
    expect(other.artifacts).toMatchObject([{ id: first.artifacts[0]?.id, source: { tool: "paint" } }]);
    expect(await refsIn(all.memory)).toHaveLength(2);
  });

  test("leaves nothing behind if nobody asks for an answer", async () => {
    const all = await opened(() => undefined);
    await (await ended(all))[Symbol.asyncDispose]();
    expect(all.open.size).toBe(0);
    expect(await refsIn(all.memory)).toEqual([]);
  });

  test("tells its failure in the answer, whoever may end that", async () => {
    const all = await opened(failingAt(1, FULL, "close"));
    await using gated = await ended(all);
    const answer = await gated.answer({ signal: new AbortController().signal });
    expect(answer.failures).toEqual([FULL]);
    await expectSound(all, answer);
  });
});

describe("a store that fails after the document is through", () => {
  test("at names and types: the answer has them all the same", async () => {
    const all = await opened(failingAt(1, FULL, "update"));
    const answer = await all.sluice.transform(INPUT);
    expect(answer.failures).toEqual([FULL]);
    expect(answer.artifacts.map(isStored)).toEqual([true, true, true]);
    expect(answer.value).toMatchObject({ pdf: { artifact: { filename: "artifact.pdf" } } });
    await expectSound(all, answer);
    const strict = await opened(failingAt(1, FULL, "update"), { strict: true });
    await expect(strict.sluice.transform(INPUT)).rejects.toBe(FULL);
  });

  test.each(["openWriter", "write", "close"] as const)(
    "at the whole of a clamped observation (%s): what is left of it stays",
    async (call) => {
      const rows = Array.from({ length: 900 }, (_, n) => [prose(60), n]);
      const config = { auto_artifact_large_content: false };
      const healthy = await opened(() => undefined, { config });
      expect(await healthy.sluice.transform(rows)).toMatchObject({ clamped: true, artifacts: [{}], failures: [] });
      const all = await opened(failingAt(1, FULL, call), { config });
      const answer = await all.sluice.transform(rows);
      expect(answer).toMatchObject({ clamped: true, artifacts: [], failures: [FULL] });
      expect(answer.text.length).toBeGreaterThan(20_000);
      expect(answer.bytesOut).toBe(Buffer.byteLength(answer.text));
      await expectSound(all, answer);
      expect(await refsIn(all.memory)).toEqual([]);
      const strict = await opened(failingAt(1, FULL, call), { config, strict: true });
      await expect(strict.sluice.transform(rows)).rejects.toBe(FULL);
      expect(strict.open.size).toBe(0);
    },
  );

  // letters that no signature knows: a text to the gate, base64 by its block
  const blocks = { content: [{ type: "image", data: "ACGT".repeat(20_000), mimeType: "image/png" }] };

  test.each([
    ["read back", "openReader", 1],
    ["read", "read", 1],
    ["stored in the first place", "openWriter", 1],
  ] as const)(
    "at text that is to be decoded and cannot be %s: nothing of the encoding is shown",
    async (_, call, nth) => {
      for (const dialect of ["observation", "mcp"] as const) {
        const all = await opened(failingAt(nth, FULL, call));
        const answer = await all.sluice.transform(blocks, { dialect });
        expect(answer.failures).toEqual([FULL]);
        expect(answer.artifacts).toHaveLength(1);
        expect(answer.text).not.toContain("ACGTACGT");
        await expectSound(all, answer);
      }
    },
  );

  test.each(["openWriter", "close"] as const)("at the bytes of a text that was decoded (%s)", async (call) => {
    const all = await opened(failingAt(2, FULL, call));
    const answer = await all.sluice.transform(blocks, { dialect: "mcp" });
    expect(answer).toMatchObject({
      failures: [FULL],
      artifacts: [{ size_bytes: 60_000, mime_type: "application/octet-stream" }],
    });
    expect(answer.artifacts.map(isStored)).toEqual([false]);
    await expectSound(all, answer);
    await expect(all.sluice.restore(answer.value)).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  });
});

test("a store that gives no ref, or a strange one, breaks nothing", async () => {
  const strange = [null, undefined, {}, { id: 7, source: {} }, { id: "", source: {} }, { id: "a_0", source: null }];
  const odd = { id: "a_0", source: { warning: 7 }, mime_type: 5, filename: [], size_bytes: "?" };
  for (const ref of [...strange, odd]) {
    const store = Object.assign(new MemoryArtifactStore(), {
      openWriter: () => ({ write: () => undefined, close: () => ref, abort: () => Promise.reject(new Error("no")) }),
      update: () => ref,
      stat: () => ref,
    });
    const { text, failures, value } = await (await createSluice({ store })).transform(INPUT);
    expect(longestRun(text)).toBeLessThan(200);
    expect(value).toMatchObject({ note: "kept" });
    expect(failures).toMatchObject(ref === odd ? [] : [{ code: "E_STORE_WRITE" }]);
  }
});

test.each([undefined, null, {}, { write: () => undefined }])(
  "a store whose writer is %o is one that fails",
  async (none) => {
    const broken = { openWriter: async () => none as unknown as ArtifactWriter };
    const alone = Object.assign(new MemoryArtifactStore({ retention: null }), broken);
    const tiers = new TieredArtifactStore({ near: alone, far: alone });
    for (const store of [alone, tiers, new RetainingArtifactStore(tiers)]) {
      const sluice = await createSluice({ store });
      const { artifacts, failures, value } = await sluice.transform(INPUT);
      expect(artifacts.map(isStored)).toEqual([false, false, false]);
      expect(failures).toMatchObject([{ code: "E_STORE_WRITE", message: expect.stringContaining("no writer") }]);
      expect(value).toMatchObject({ note: "kept" });
      const strict = await createSluice({ store, onStoreFailure: "throw" });
      await expect(strict.transform(INPUT)).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    }
  },
);

test.each([
  ["nothing", undefined],
  ["no stream", {}],
  ["a stream of texts", new ReadableStream({ pull: (controller) => controller.enqueue("ACGT") })],
])("a store whose reader is %s is one that fails", async (_, none) => {
  const store = Object.assign(new MemoryArtifactStore(), { openReader: async () => none as unknown as null });
  const sluice = await createSluice({ store });
  const blocks = { content: [{ type: "image", data: "ACGT".repeat(20_000), mimeType: "image/png" }] };
  const { failures, text } = await sluice.transform(blocks);
  expect(failures).toMatchObject([{ code: "E_STORE_READ", message: expect.stringContaining("fix the store") }]);
  expect(text).not.toContain("ACGTACGT");
});

test("a failure of one transform is nothing to another that runs beside it", async () => {
  const { sluice, memory } = await opened(failingAt(1, FULL, "close"));
  const answers = await Promise.all([1, 2, 3, 4].map((n) => sluice.transform(textResult(`${n} ${base64(PDF)}`))));
  expect(answers.flatMap(({ failures }) => failures)).toEqual([FULL]);
  expect(await refsIn(memory)).toHaveLength(1);
});
