import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { base64, LARGE_PNG, onlyBytes, PDF, PNG, prose, refsIn, sha256, textResult } from "./samples.js";

async function opened(): Promise<{ store: MemoryArtifactStore; sluice: Sluice }> {
  const store = new MemoryArtifactStore();
  return { store, sluice: await createSluice({ store }) };
}

describe("what a server sent twice is shown once", () => {
  const structured = { total: 3, rows: [1, 2, 3] };
  const both = { ...textResult("three rows"), structuredContent: structured };

  test("the structured half is shown when nothing else is asked", async () => {
    const { sluice } = await opened();
    expect((await sluice.transform(both)).value).toEqual(structured);
  });

  test("the content half is shown on request", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
    expect((await sluice.transform(both)).value).toBe("three rows");
  });

  test("a half that is missing is not preferred", async () => {
    const { sluice } = await opened();
    expect((await sluice.transform({ content: [], structuredContent: structured })).value).toEqual(structured);
    const sluiceOfContent = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
    expect((await sluiceOfContent.transform({ content: [], structuredContent: structured })).value).toEqual(structured);
    expect((await sluice.transform(textResult("only text"))).value).toBe("only text");
  });

  test("the mcp dialect keeps both halves", async () => {
    const { sluice } = await opened();
    expect((await sluice.transform(both, { dialect: "mcp" })).value).toEqual(both);
  });
});

describe("errors of tools stay errors", () => {
  test("the planner sees that it was one", async () => {
    const { sluice } = await opened();
    expect((await sluice.transform({ ...textResult("no such view"), isError: true })).value).toEqual({
      isError: true,
      content: "no such view",
    });
  });

  test("their bytes are stored like any", async () => {
    const { sluice, store } = await opened();
    const failed = { ...textResult(`It failed: ${base64(PDF)}`), isError: true };
    const observed = await sluice.transform(failed);
    expect(observed.value).toMatchObject({ isError: true });
    expect((await onlyBytes(store, observed.artifacts)).equals(PDF)).toBe(true);
    const mcp = await sluice.transform(failed, { dialect: "mcp" });
    expect(mcp.value).toMatchObject({ isError: true });
    expect(await sluice.restore(mcp.value)).toEqual(failed);
  });
});

describe("shapes", () => {
  test("a JSON-RPC response keeps its envelope in the mcp dialect", async () => {
    const { sluice, store } = await opened();
    const response = { jsonrpc: "2.0", id: "r-1", result: textResult(base64(PDF)) };
    const { value, artifacts } = await sluice.transform(response, { dialect: "mcp" });
    expect(value).toMatchObject({ jsonrpc: "2.0", id: "r-1", result: { content: [{ type: "text" }] } });
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
    expect(await sluice.restore(value)).toEqual(response);
  });

  test("a content array stays an array", async () => {
    const { sluice, store } = await opened();
    const blocks = [
      { type: "image", data: base64(LARGE_PNG), mimeType: "image/png" },
      { type: "text", text: "see" },
    ];
    const observed = await sluice.transform(blocks);
    expect(observed.value).toMatchObject([{ type: "image", artifact: { mime_type: "image/png" } }, {}]);
    expect((await onlyBytes(store, observed.artifacts)).equals(LARGE_PNG)).toBe(true);
    const mcp = await sluice.transform(blocks, { dialect: "mcp" });
    expect(Array.isArray(mcp.value)).toBe(true);
    expect(await sluice.restore(mcp.value)).toEqual(blocks);
  });

  test.each([
    ["null", null],
    ["a boolean", false],
    ["a number", -1.5e300],
    ["a string", "hi"],
    ["an empty object", {}],
    ["an empty array", []],
    ["a small document", { a: [1, { b: null }], "": "" }],
  ])("%s passes as it is", async (_, value) => {
    const { sluice, store } = await opened();
    expect(await sluice.transform(value)).toMatchObject({ value, changed: false, artifacts: [] });
    const mcp = await sluice.transform(value, { dialect: "mcp" });
    expect(mcp.value).toBe(value);
    expect(await refsIn(store)).toEqual([]);
  });

  test("the text is the value's JSON, and its size is told in bytes", async () => {
    const { sluice } = await opened();
    for (const result of [{ é: "ü" }, { pdf: base64(PDF) }, textResult(prose(30_000))]) {
      const { text, value, bytesIn, bytesOut } = await sluice.transform(result);
      expect(JSON.parse(text)).toEqual(value);
      expect(bytesIn).toBe(Buffer.byteLength(JSON.stringify(result)));
      expect(bytesOut).toBe(Buffer.byteLength(text));
    }
  });

  test("what the mcp dialect need not change is the very object that came", async () => {
    const { sluice } = await opened();
    const result = { ...textResult("small"), structuredContent: { a: 1 }, _meta: { "x/y": [1] } };
    const { value, text, changed } = await sluice.transform(result, { dialect: "mcp" });
    expect(value).toBe(result);
    expect(text).toBe(JSON.stringify(result));
    expect(changed).toBe(false);
  });
});

describe("what is asked of the store", () => {
  test("scope, namespace and tool stand in the ref and never in the observation", async () => {
    const { sluice, store } = await opened();
    const scope = { tenant_id: "tenant-7", user_id: "user-7", session_id: "session-7", trace_id: "trace-7" };
    const call = { scope, namespace: "reports", tool: "make" };
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform({ pdf: base64(PDF) }, { ...call, dialect });
      expect(artifacts[0]).toMatchObject({ scope, namespace: "reports", source: { tool: "make" } });
      expect(artifacts[0]?.id).toBe(`reports_${sha256(PDF).slice(0, 12)}`);
      expect(text).not.toMatch(/tenant-7|user-7|session-7|trace-7/);
      expect((await onlyBytes(store, artifacts, scope)).equals(PDF)).toBe(true);
    }
    expect(await refsIn(store, {})).toEqual([]);
  });

  test("artifacts come in the order of the document", async () => {
    const { sluice } = await opened();
    const { artifacts } = await sluice.transform({ a: base64(PNG), b: base64(PDF), c: prose(20_000) });
    expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(["image/png", "application/pdf", "text/plain"]);
    expect(artifacts[2]?.sha256).toBe(sha256(Buffer.from(prose(20_000))));
  });

  test.each([
    ["a slash", "a/b"],
    ["nothing", ""],
    ["too much", "n".repeat(65)],
  ])("a namespace of %s is refused", async (_, namespace) => {
    const { sluice, store } = await opened();
    await expect(sluice.transform({ pdf: base64(PDF) }, { namespace })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "namespace",
    });
    expect(await refsIn(store)).toEqual([]);
    expect((await sluice.transform("next")).value).toBe("next");
  });
});

describe("without a store", () => {
  test("the observation says that the content is lost, and one warning goes to the host", async () => {
    const warn = vi.fn<(message: string) => void>();
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn }) });
    const { value, artifacts } = await sluice.transform(
      { pdf: base64(PDF), png: base64(PNG) },
      { namespace: "tableau" },
    );
    const id = `truncated_${sha256(PDF).slice(0, 12)}`;
    expect(value).toMatchObject({
      pdf: {
        artifact: { id, mime_type: "application/pdf", size_bytes: PDF.length },
        summary: expect.stringContaining("not stored"),
      },
    });
    expect(artifacts[0]?.source).toMatchObject({ truncated: true, original_size: PDF.length });
    await sluice.transform({ text: prose(20_000) });
    expect(warn).toHaveBeenCalledOnce();
  });

  test("nothing is warned of while nothing is lost", async () => {
    const warn = vi.fn<(message: string) => void>();
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn }) });
    await sluice.transform({ small: true });
    expect(warn).not.toHaveBeenCalled();
  });

  test.each([
    ["one thing", base64(PDF)],
    ["several in a text", `one ${base64(PDF)} and ${base64(PNG)}`],
  ])("the host that is told of %s in the mcp dialect is not offered to read it", async (_, text) => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const answer = await sluice.transform(textResult(text), { dialect: "mcp" });
    expect(answer.text).toContain("not stored");
    expect(answer.text).not.toMatch(/Read (it|one) with|\[sluice\] Stored/);
    expect(answer.failures).toEqual([]);
  });

  test("a text that may be an encoding is not quoted", async () => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const block = { type: "image", data: "ACGT".repeat(20_000), mimeType: "image/png" };
    for (const dialect of ["observation", "mcp"] as const) {
      expect((await sluice.transform({ content: [block] }, { dialect })).text).not.toContain("ACGTACGT");
    }
  });

  test("a clamped observation stays what was left of it", async () => {
    const config = { auto_artifact_large_content: false };
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }), config });
    const rows = Array.from({ length: 900 }, (_, n) => [prose(60), n]);
    const { text, clamped, artifacts } = await sluice.transform(rows);
    expect({ clamped, artifacts }).toEqual({ clamped: true, artifacts: [] });
    expect(text.length).toBeGreaterThan(20_000);
  });
});

describe("what cannot be transformed", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  test.each([
    ["undefined", undefined],
    ["a BigInt", { n: 1n }],
    ["a cycle", cycle],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
  ])("%s is refused with a code", async (_, value) => {
    const { sluice } = await opened();
    await expect(sluice.transform(value)).rejects.toMatchObject({ name: "SluiceError", code: "E_INVALID_ARGUMENT" });
    expect((await sluice.transform("next")).value).toBe("next");
  });

  test("an unknown dialect is refused", async () => {
    const { sluice } = await opened();
    const dialect = "poem" as "mcp";
    await expect(sluice.transform({}, { dialect })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "dialect",
    });
  });

  test("nesting beyond 512 is refused with the place", async () => {
    const { sluice } = await opened();
    const deep = JSON.parse("[".repeat(600) + "]".repeat(600)) as unknown;
    await expect(sluice.transform(deep)).rejects.toMatchObject({ code: "E_JSON_DEPTH", line: 1, column: 513 });
  });

  test("an aborted signal ends it, and leaves nothing behind", async () => {
    const { sluice, store } = await opened();
    const reason = new Error("the user left");
    await expect(sluice.transform({ pdf: base64(PDF) }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await refsIn(store)).toEqual([]);
    expect((await sluice.transform({ pdf: base64(PDF) })).artifacts).toHaveLength(1);
  });
});
