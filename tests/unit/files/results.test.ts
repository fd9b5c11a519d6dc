/** Results that follow the tool output contract (user storage §1, §6–§8). */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { UserStorage } from "../../../web/src/files/user-storage.js";
import { ADA, BOB, lab, seen } from "./lab.js";

async function textOf(storage: UserStorage, name: string): Promise<string> {
  return new Response(await storage.open(name)).text();
}

/** What is told, whatever its name, id and size. */
function shape(value: unknown): string {
  return JSON.stringify(value).replace(/small|large|artifact:[^"]*|104[89]/g, "…");
}

async function names(store: MemoryArtifactStore): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { filename } of store.list()) found.push(filename);
  return found;
}

const REF = expect.stringMatching(/^artifact:\/\/file-[0-9a-f]{16}_[0-9a-f]{12,}\?type=text\/csv&size=\d+$/) as string;

describe.each(["bytes", "as_text"])("a result with b64 artifacts (%s)", (tool) => {
  test.each([false, true])(
    "gives them to the user, and names and references to the model; large: %s",
    async (large) => {
      const { call, userFiles } = await lab();
      const result = await call(tool, { large });
      expect(seen(result)).toEqual({
        results: { rows: large ? 12_000 : 3 },
        meta_data: { source: "lab" },
        retryable: true,
        artifacts: [
          {
            name: "names.csv",
            ref: REF,
            mime: "text/csv",
            size: expect.any(Number) as number,
            description: "All names",
            category: "dataset",
          },
        ],
      });
      expect(result.text).not.toContain("b64");
      const [file, ...others] = await userFiles.storage(ADA).list();
      expect(others).toEqual([]);
      expect(file).toMatchObject({
        name: "names.csv",
        origin: "generated",
        category: "dataset",
        description: "All names",
      });
      expect(file?.facts).toBe(large ? "12,000 rows" : "3 rows");
      const text = await textOf(userFiles.storage(ADA), "names.csv");
      expect([text.startsWith("id,name\n"), text.split("\n").length]).toEqual([true, large ? 12_002 : 5]);
      expect(await userFiles.storage(BOB).list()).toEqual([]);
    },
  );
});

describe("bytes that are a file now", () => {
  test("are no artifact of the call beside it: a file that is removed is gone", async () => {
    const { call, userFiles, store } = await lab();
    await call("bytes", { large: true });
    expect(await names(store)).toEqual(["names.csv"]);
    await userFiles.storage(ADA).remove("names.csv");
    expect(await names(store)).toEqual([]);
  });

  test("stay an artifact of an earlier result that had them", async () => {
    const { call, store } = await lab();
    const text = (await call("table")).artifacts;
    await call("bytes", { large: true });
    expect(await store.exists(text[0]?.id ?? "", ADA)).toBe(true);
  });

  test("are found however many files a contract has", async () => {
    const { call, userFiles } = await lab({ config: { artifact_extraction: { max_inline_size: 256 } } });
    const many = Array.from({ length: 60 }, (_, at) => ({
      name: `${at}.txt`,
      b64: Buffer.from(`${at} `.repeat(1000)).toString("base64"),
      mime: "text/plain",
      description: "d".repeat(400),
    }));
    await call("raw", { result: { content: [], structuredContent: { results: { ok: true }, artifacts: many } } });
    expect(await userFiles.storage(ADA).list()).toHaveLength(60);
  });
});

describe("a result with path artifacts", () => {
  test("has them read from the user's folder, and shows no path", async () => {
    const { call, userFiles, root, node } = await lab();
    const result = await call("write", { name: "out.csv", content: "a\n1\n", mime: "text/csv" });
    expect(result.text).not.toContain(root);
    expect(seen(result)).toMatchObject({ artifacts: [{ name: "out.csv", ref: REF, size: 4 }] });
    expect(await textOf(userFiles.storage(ADA), "out.csv")).toBe("a\n1\n");
    const [{ ref } = { ref: "" }] = seen(result)["artifacts"] as { ref: string }[];
    const read = await node.call("artifact_read", { uri: ref, lines: "1-2" }, { scope: ADA });
    expect(read.text).toContain("1");
    const bobs = await node.call("artifact_read", { uri: ref, lines: "1-2" }, { scope: BOB });
    expect(bobs.isError).toBe(true);
  });

  test("keeps what was there as an older version", async () => {
    const { call, userFiles } = await lab();
    await userFiles.storage(ADA).put("out.csv", "mine");
    await call("write", { name: "out.csv", content: "the tool's" });
    const versions = await userFiles.storage(ADA).versions("out.csv");
    expect(versions.map(({ origin }) => origin)).toEqual(["generated", "uploaded"]);
  });

  test("tells of a file that is not there, and keeps the others", async () => {
    const { call, userFiles, root } = await lab();
    const artifacts = [
      { name: "none.txt", path: `${root}/ada/none.txt`, mime: "text/plain" },
      { name: "one.txt", b64: "eA==", mime: "text/plain" },
    ];
    const result = await call("raw", { result: { content: [], structuredContent: { results: {}, artifacts } } });
    expect(seen(result)["artifacts"]).toMatchObject([
      { name: "none.txt", warning: expect.any(String) as string },
      { name: "one.txt" },
    ]);
    expect(result.text).not.toContain(root);
    expect((await userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["one.txt"]);
  });

  test("is answered with E_INVALID_PATH for a path that is not the user's, nothing is stored, and it is logged", async () => {
    const refused: unknown[] = [];
    const { call, userFiles, root, events } = await lab({
      files: { onRefused: (error) => void refused.push(error) },
    });
    const result = await call("path", { path: "/etc/passwd" });
    expect(result.isError).toBe(true);
    expect(result.value).toEqual({
      results: { error: "File operation outside allowed directory" },
      meta_data: {
        is_error: true,
        reason: "SecurityViolation",
        error_code: "E_INVALID_PATH",
        details: {
          attempted_path: "/etc/passwd",
          allowed_prefix: `${root}/ada/`,
          suggestion: "Use /tmp/{username}/ prefix for file operations",
        },
        retryable: false,
      },
    });
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    const details = { attempted_path: "/etc/passwd", allowed_prefix: `${root}/ada/` };
    expect(refused).toMatchObject([{ code: "E_INVALID_PATH", reason: "outside", details }]);
    expect(events).toContainEqual({
      kind: "failed",
      tool: "lab.path",
      error: expect.objectContaining({ code: "E_INVALID_PATH" }) as Error,
    });
  });

  test("is refused also when the log fails", async () => {
    const { call } = await lab({
      files: {
        onRefused: () => {
          throw new Error("the log is full");
        },
      },
    });
    const result = await call("path", { path: "/etc/passwd" });
    expect([result.isError, result.text]).toEqual([true, expect.stringContaining("E_INVALID_PATH")]);
    expect(result.text).not.toContain("the log is full");
  });

  test("is answered with E_FILE_TOO_LARGE for a file that is larger than is taken", async () => {
    const { call, userFiles } = await lab({ files: { max_file_size_mb: 0.001 } });
    const result = await call("write", { name: "a.txt", content: "x", times: 2000 });
    expect(result.isError).toBe(true);
    expect(result.value).toMatchObject({
      results: { error: "Generated file exceeds processing limits" },
      meta_data: {
        reason: "FileSizeExceeded",
        error_code: "E_FILE_TOO_LARGE",
        details: { file_size_bytes: 2000, current_limit_bytes: 1048 },
        retryable: false,
      },
    });
    expect(await userFiles.storage(ADA).list()).toEqual([]);
  });
});

test("the size limit chooses the store, and nothing else", async () => {
  const largeStore = new MemoryArtifactStore();
  const { call, store, userFiles } = await lab({ files: { largeStore, base64_size_limit_mb: 0.001 } });
  const small = await call("write", { name: "small.txt", content: "x", times: 1048 });
  const large = await call("write", { name: "large.txt", content: "x", times: 1049 });
  expect(shape(large.value)).toBe(shape(small.value));
  expect([await names(store), await names(largeStore)]).toEqual([["small.txt"], ["large.txt"]]);
  expect((await userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["large.txt", "small.txt"]);
});

describe("results that do not follow the contract pass through the ordinary layers", () => {
  test("where there are no results", async () => {
    const { call } = await lab();
    const { value } = await call("raw", { result: { content: [{ type: "text", text: "hello" }] } });
    expect(value).toBe("hello");
  });

  test("where a field is wrong, which the host is told by its place and its rule", async () => {
    const { call, events, userFiles } = await lab();
    const contract = { results: {}, artifacts: [{ name: "a.txt", b64: "eA==" }] };
    const { value } = await call("raw", { result: { content: [], structuredContent: contract } });
    expect(JSON.stringify(value)).toContain('"results"');
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    const failed = events.find(({ kind }) => kind === "failed");
    expect(failed).toMatchObject({ tool: "lab.raw", error: { code: "E_TOOL_CONTRACT", path: "artifacts[0].mime" } });
  });

  test("where a reference stands that is none of this result", async () => {
    const { call, events, userFiles } = await lab();
    const { id } = await userFiles.storage(BOB).put("secret.txt", "bob's");
    const result = await call("forge", { id });
    expect(result.text).not.toContain("bob's");
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect(events).toContainEqual(expect.objectContaining({ kind: "failed", tool: "lab.forge" }) as object);
  });
});

test("facts that are not small are an artifact of the call", async () => {
  const { call, store } = await lab();
  const meta_data = { list: Array.from({ length: 2000 }, (_, number) => number) };
  const result = await call("raw", {
    result: { content: [], structuredContent: { results: { ok: true }, meta_data } },
  });
  const { ref } = seen(result)["meta_data"] as { ref: string };
  expect(ref).toMatch(/^artifact:\/\/lab_[0-9a-f]+\?type=application\/json&size=\d+$/);
  const bytes = await store.get(ref.slice("artifact://".length).split("?")[0] ?? "", ADA);
  expect(JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()))).toEqual(meta_data);
});

test("what is told of many files stays within the guardrail, and the files are kept", async () => {
  const guardrail = { max_observation_chars: 2000 };
  const { call, userFiles } = await lab({ config: { artifact_extraction: { guardrail } } });
  const artifacts = Array.from({ length: 40 }, (_, at) => ({
    name: `${at}.txt`,
    b64: "eA==",
    mime: "text/plain",
    description: "d".repeat(400),
  }));
  const result = await call("raw", {
    result: { content: [], structuredContent: { results: { ok: true }, artifacts } },
  });
  expect(Array.from(result.text).length).toBeLessThanOrEqual(2000);
  expect(result.text).toContain("40");
  expect(await userFiles.storage(ADA).list()).toHaveLength(40);
});

test("numbers keep all their digits, and long results become references, however the contract is carried", async () => {
  const { call } = await lab();
  const digits = "12345678901234567890.10";
  const log = "x ".repeat(20_000);
  const artifacts = [{ name: "a.txt", b64: "eA==", mime: "text/plain" }];
  const text = JSON.stringify({ results: { log }, artifacts }).replace("{", `{"meta_data":{"sum":${digits}},`);
  const result = await call("raw", { result: { content: [{ type: "text", text }] } });
  expect(result.text).toContain(`"meta_data":{"sum":${digits}}`);
  expect(result.text.length).toBeLessThan(2000);
  expect(seen(result)).toMatchObject({ artifacts: [{ name: "a.txt" }] });
});

test("in the mcp dialect the same is a CallToolResult", async () => {
  const { call } = await lab({ options: { dialect: "mcp" } });
  const result = await call("bytes");
  const { content, structuredContent } = result.value as { content: [{ text: string }]; structuredContent: unknown };
  expect(structuredContent).toMatchObject({ results: { rows: 3 }, artifacts: [{ name: "names.csv" }] });
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
});
