/** Results that follow the tool output contract. */
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
      expect(result.text).not.toContain(`"b64"`);
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
      files: { onRefused: (refusal) => void refused.push(refusal) },
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
          allowed_prefix: "/tmp/ada/",
          suggestion: "Use /tmp/{username}/ prefix for file operations",
        },
        retryable: false,
      },
    });
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect(result.text).not.toContain(root);
    const refusal = {
      where: "result",
      tool: "lab.path",
      user_id: "ada",
      tenant_id: null,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      refused: "/etc/passwd",
      error: expect.objectContaining({ code: "E_INVALID_PATH", reason: "outside" }) as Error,
      message: expect.stringMatching(
        /^\S+Z lab\.path for "ada" was refused what its result names: .*"\/etc\/passwd"/,
      ) as string,
    };
    expect(refused).toEqual([refusal]);
    expect(events).toContainEqual({ kind: "refused", ...refusal });
  });

  test.each([
    ["leads up and out of the folder", "/tmp/ada/../x", "/tmp/ada/../x"],
    ["goes up within it", "/tmp/ada/a/../../bob/x", "/tmp/ada/a/../…/x"],
    ["has NUL in it", "/tmp/ada/a\0b", "/tmp/ada/ab"],
  ])("is answered with the prefix that is allowed where a path %s", async (_, path, attempted_path) => {
    const { call, root } = await lab();
    const result = await call("path", { path: path.replace("/tmp", root) });
    expect([result.isError, seen(result)["meta_data"]]).toMatchObject([
      true,
      {
        error_code: "E_INVALID_PATH",
        details: {
          attempted_path,
          allowed_prefix: "/tmp/ada/",
          suggestion: "Use /tmp/{username}/ prefix for file operations",
        },
      },
    ]);
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

function textBlock(value: unknown): object {
  return {
    type: "text",
    text: typeof value === "string" ? value : JSON.stringify(value),
  };
}

/** What a tool may say where its file is, without making it an artifact. */
function saying(path: string): readonly object[] {
  const said = { files: [{ name: "a.csv", path }], log: `wrote ${path}` };
  return [
    { content: [textBlock(`Saved to ${path}`)] },
    { content: [textBlock(said)] },
    { content: [textBlock(said)], structuredContent: said },
    { content: [textBlock("one"), textBlock(said), textBlock(`at ${path}`)] },
    { content: [textBlock(JSON.stringify(said).replaceAll("/", "\\/"))] },
    { content: [], structuredContent: { result: JSON.stringify(JSON.stringify(said)) } },
    { isError: true, content: [textBlock(`PermissionError: [Errno 13] Permission denied: '${path}'`)] },
    { content: [{ type: "resource_link", name: "a.csv", uri: `file://${path}` }] },
    { content: [], structuredContent: { results: { path }, meta_data: { said } } },
    {
      content: [],
      structuredContent: { results: [path], artifacts: [{ name: "none.csv", path, description: `Of ${path}` }] },
    },
  ];
}

describe("results that are no contract", () => {
  test("pass through the ordinary layers", async () => {
    const { call } = await lab();
    const { value } = await call("raw", { result: { content: [{ type: "text", text: "hello" }] } });
    expect(value).toBe("hello");
  });

  test.each([
    { results: [{ title: "a" }], total: 1 },
    { results: { a: 1 }, query: "x" },
    { artifacts: [{ name: "dist.zip", path: "build/dist.zip" }], total_count: 1 },
  ])("keep all that they say: %j", async (structuredContent) => {
    const { call, userFiles } = await lab();
    const result = await call("raw", { result: { content: [], structuredContent } });
    expect(result.value).toEqual(structuredContent);
    expect(await userFiles.storage(ADA).list()).toEqual([]);
  });

  test.each(["observation", "mcp"] as const)("tell names, and no path of the user's folder (%s)", async (dialect) => {
    const { call, root } = await lab({ options: { dialect } });
    for (const result of saying(`${root}/ada/a.csv`)) {
      const { text, value } = await call("raw", { result });
      expect(`${text}${JSON.stringify(value)}`).not.toContain(root.split("/").at(-1));
      expect(text).toContain("a.csv");
    }
  });

  test("tell none where the whole result is stored, nor where a server's error names one", async () => {
    const { call, root, node } = await lab();
    const log = `at ${root}/ada/a.csv\n`.repeat(10_000);
    const { artifacts, text } = await call("raw", { result: { content: [{ type: "text", text: log }] } });
    expect(text).not.toContain(root);
    const uri = `artifact://${artifacts[0]?.id}`;
    const read = await node.call("artifact_read", { uri, lines: "1-3" }, { scope: ADA });
    expect([read.text.includes("at a.csv"), read.text.includes(root)]).toEqual([true, false]);
    const error = await call("fail", { message: `cannot read ${root}/ada/input_files/a.csv` }).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as Error).message).not.toContain(root);
  });
});

describe("a result that breaks rules of the contract", () => {
  test("loses what breaks them and nothing else, and the model and the host are told", async () => {
    const { call, events, userFiles } = await lab();
    const contract = {
      results: "done",
      meta_data: 1,
      retryable: "yes",
      artifacts: [
        { name: "a.txt", b64: "eA==", mime: "text", viewer: "PDF", description: "x".repeat(2001) },
        { name: "", b64: "eA==" },
        { name: "b.txt", b64: "not base64" },
        "c.txt",
        { name: "d.txt", b64: "eQ==", mime: "text/plain", category: "report" },
      ],
      deferred_artifacts: [{ name: "e.txt", b64: "eg==", mime: "text/plain", reason: "later", expires_hours: 0 }],
      display: { primary_file: "b.txt", notification: 1, mode: "full" },
      total: 2,
    };
    const result = await call("raw", { result: { content: [], structuredContent: contract } });
    expect(seen(result)).toMatchObject({
      results: { result: "done" },
      artifacts: [
        { name: "a.txt", mime: "text/plain", size: 1 },
        { name: "file", size: 1 },
        { name: "d.txt", mime: "text/plain", category: "report" },
      ],
      deferred_artifacts: [{ name: "e.txt", size: 1 }],
    });
    expect((await userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["a.txt", "d.txt", "e.txt", "file"]);
    expect(seen(result)["dropped"]).toEqual([
      'results must be an object; it was wrapped as {"result": …}',
      "meta_data must be an object",
      "retryable must be true or false",
      "artifacts[0].mime must be a media type such as text/csv",
      "artifacts[0].description must be a string of at most 2000 characters",
      "artifacts[0].viewer must be one of image, pdf, html, code, data",
      "artifacts[1].name must be a string of 1 to 1024 characters",
      "artifacts[2].b64 must be base64 (RFC 4648)",
      "artifacts[3] must be an object",
      "deferred_artifacts[0].reason must be one of needs_editing, draft, incomplete, awaiting_approval",
      "deferred_artifacts[0].expires_hours must be a whole number from 1 to 8760",
      "display.primary_file must be the name of a file in this result",
      "display.mode must be one of replace, append, split",
      "display.notification must be a string of at most 500 characters",
      "total is not a member of a contract",
    ]);
    const failed = events.find(({ kind }) => kind === "failed");
    expect(failed).toMatchObject({ tool: "lab.raw", error: { code: "E_TOOL_CONTRACT", path: "results" } });
  });

  test("with more than 256 files has the first 256 of them", async () => {
    const { call, userFiles } = await lab();
    const artifacts = Array.from({ length: 300 }, (_, at) => ({ name: `${at}.txt`, b64: "eA==", mime: "text/plain" }));
    const result = await call("raw", { result: { content: [], structuredContent: { artifacts } } });
    expect(await userFiles.storage(ADA).list()).toHaveLength(256);
    expect(await userFiles.storage(ADA).find("255.txt")).not.toBeNull();
    expect(result.text).toContain("artifacts may have at most 256 objects: the others are left out");
  });

  test("with a reference that is none of this result loses that file, which is logged", async () => {
    const { call, events, userFiles } = await lab();
    const { id } = await userFiles.storage(BOB).put("secret.txt", "bob's");
    const result = await call("forge", { id });
    expect(result.text).not.toContain("bob's");
    expect(seen(result)).toEqual({
      results: {},
      dropped: ['b64 of "mine.txt" must be the bytes in base64, not a reference'],
    });
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "refused",
        where: "result",
        tool: "lab.forge",
        user_id: "ada",
        refused: "mine.txt",
      }),
    );
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
