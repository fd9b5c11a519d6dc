import type { CallToolResult as SdkResult } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import { stringifyDeep } from "../../../web/src/core/value.js";
import { createSluice } from "../../../web/src/index.js";
import { base64, LARGE_PNG, onlyBytes, PDF, PNG, prose, refsIn, sha256, textResult, opened } from "./samples.js";

/** All strings of a value, however deep. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

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
    expect(text).toMatch(
      /^\["\[sluice\] This result was cut to fit, and the rest cannot be read back\. Content not stored/,
    );
  });

  test("a clamped observation says that its rest is lost, whatever it is", async () => {
    const config = { auto_artifact_large_content: false };
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }), config });
    for (const value of [prose(80_000), { log: prose(80_000) }, { "[sluice]": 1, rows: Array(30_000).fill(1) }]) {
      const { text, cut } = await sluice.transform(value);
      expect(text).toContain("cannot be read back. Content not stored (no ArtifactStore configured).");
      expect(Array.from(text).length).toBeLessThanOrEqual(50_000);
      expect(cut?.method).not.toBe("stored");
    }
  });

  const long = prose(12_000);
  test.each([
    [
      "in a text block",
      {
        content: [
          { type: "text", text: long },
          { type: "text", text: "more" },
        ],
      },
    ],
    ["in structuredContent", { content: [], structuredContent: { log: long } }],
  ])("of a long text %s as much is shown as the guardrail allows", async (_, result) => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const { text, artifacts } = await sluice.transform(result);
    expect(text).toContain(JSON.stringify(long.slice(0, 10_000)).slice(0, -1));
    expect(text).toContain("content not stored. Its beginning is shown; the rest cannot be read back.");
    expect(artifacts[0]?.source).toMatchObject({ truncated: true });
    const mcp = await sluice.transform(result, { dialect: "mcp" });
    expect(mcp.text).toContain(JSON.stringify(long.slice(0, 9_000)).slice(1, -1));
    expect(mcp.text).toContain("Content not stored (no ArtifactStore configured). Its beginning is shown");
    for (const string of stringsIn(mcp.value)) expect(string.length).toBeLessThanOrEqual(10_000);
  });

  test("of a large document the rows that fit are shown", async () => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const rows = Array.from({ length: 9_000 }, (_, id) => ({ id, name: `name ${id}` }));
    const { text, value } = await sluice.transform({ rows });
    expect(Array.from(text).length).toBeLessThanOrEqual(50_000);
    expect(text.length).toBeGreaterThan(40_000);
    expect(value).toMatchObject({ rows: { artifact: { source: { truncated: true } } } });
    const shown = (value as { rows: { beginning: unknown[] } }).rows.beginning;
    expect(shown.slice(0, 1000)).toEqual(rows.slice(0, 1000));
  });

  test("of many long texts no more is shown than the guardrail allows", async () => {
    const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    const logs = Array.from({ length: 20 }, (_, log) => `${log} ${prose(11_000)}`);
    for (const dialect of ["observation", "mcp"] as const) {
      const { text } = await sluice.transform(
        { content: logs.map((log) => ({ type: "text", text: log })) },
        { dialect },
      );
      expect(text).toContain(JSON.stringify(logs[0]?.slice(0, 1_000)).slice(1, -1));
      expect(text.length).toBeLessThan(80_000);
    }
  });
});

describe("a text that is no longer than what would stand in its place", () => {
  const config = { max_inline_size: 256 };

  test.each([257, 300, 500, 700])("stays: %i characters in an observation", async (size) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    const { value, artifacts } = await sluice.transform({ log: prose(size).slice(0, size) });
    expect(value).toEqual({ log: prose(size).slice(0, size) });
    expect(artifacts).toEqual([]);
  });

  test.each([
    ["observation", "a"],
    ["observation", "a_long_namespace_of_some_server"],
    ["mcp", "a"],
    ["mcp", "n".repeat(60)],
  ] as const)("is never made longer (%s, namespace %s)", async (dialect, namespace) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    for (let size = 250; size < 1200; size += 50) {
      for (const text of [prose(size).slice(0, size), "name,value\n".repeat(size / 11)]) {
        const before = JSON.stringify({ text });
        const { value } = await sluice.transform({ text }, { dialect, namespace, tool: "read_file" });
        expect(JSON.stringify({ text: (value as { text: unknown }).text }).length).toBeLessThanOrEqual(before.length);
      }
    }
    expect((await sluice.transform({ text: prose(1200) }, { dialect, namespace })).artifacts).toHaveLength(1);
  });
});

describe("what cannot be transformed", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  test.each([512, 513, 600, 4_000, 100_000])("%i levels are answered, and restored", async (levels) => {
    const { sluice } = await opened();
    const array: unknown = JSON.parse("[".repeat(levels - 2) + "]".repeat(levels - 2));
    const object: unknown = JSON.parse('{"a":'.repeat(levels - 2) + "1" + "}".repeat(levels - 2));
    for (const inner of [array, object]) {
      for (const document of [{ rows: [inner] }, { content: [], structuredContent: { inner } }]) {
        const { value, artifacts } = await sluice.transform(document, { dialect: "mcp" });
        expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(levels > 512 ? ["application/json"] : []);
        expect(stringifyDeep(await sluice.restore(value))).toBe(stringifyDeep(document));
        const observed = await sluice.transform(document, { dialect: "observation" });
        expect(observed.text).toContain(levels > 512 ? (artifacts[0]?.id ?? "-") : "");
      }
    }
  });

  test("a result in a text and one in a message may be deep", async () => {
    const { sluice } = await opened();
    const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
    const result = JSON.parse(
      `{"content":[{"type":"text","text":"${deep}"}],"structuredContent":{"deep":${deep}}}`,
    ) as unknown;
    for (const document of [result, { jsonrpc: "2.0", id: 1, result }]) {
      const { value } = await sluice.transform(document, { dialect: "mcp" });
      expect(stringifyDeep(await sluice.restore(value))).toBe(stringifyDeep(document));
      expect((await sluice.transform(document, { dialect: "observation" })).artifacts.length).toBeGreaterThan(0);
    }
  });

  test("an aborted signal ends it, and leaves nothing behind", async () => {
    const { sluice, store } = await opened();
    const reason = new Error("the user left");
    await expect(sluice.transform({ pdf: base64(PDF) }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await refsIn(store)).toEqual([]);
    expect((await sluice.transform({ pdf: base64(PDF) })).artifacts).toHaveLength(1);
  });
});

test("what the mcp dialect gives is a result of the SDK's, also in its types", async () => {
  const sluice = await createSluice({ store: "memory" });
  const { value } = await sluice.transform(textResult("short"), { dialect: "mcp" });
  const result: SdkResult = value;
  expect(result.content).toEqual([{ type: "text", text: "short" }]);
  const original: SdkResult = await sluice.restore(value);
  expect(original).toEqual(textResult("short"));
});
