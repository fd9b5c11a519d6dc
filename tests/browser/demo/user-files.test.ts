/** The demo's tools that work with My Files, over the library alone. */
import { MemoryArtifactStore } from "mcp-sluice";
import { UserFiles } from "mcp-sluice/files";
import { ToolNode, type ToolResult } from "mcp-sluice/tools";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { fileDemo } from "../../../web/playground/demo/user-files.js";

const scope = { user_id: "ada", session_id: "s1" };
const store = new MemoryArtifactStore();
const userFiles = new UserFiles({ store });

beforeAll(() => userFiles.storage(scope).put("notes.txt", "One line.\nAnother.\n", { mime_type: "text/plain" }));

async function call(
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<ToolResult> {
  const { url, fetch } = fileDemo();
  const config = { name: "files", transport: "mcp", connection: url, user_files: true } as const;
  const node = new ToolNode(config, { store, userFiles, fetch });
  onTestFinished(() => node.close());
  await node.connect({ scope });
  return node.call(tool, args, { scope, ...(signal !== undefined && { signal }) });
}

test("a text is summarized by its name", async () => {
  const { value } = await call("summarize_file", { filename: "notes.txt" });
  const results = { type: "text/plain", bytes: 19, lines: 2, words: 3, first_line: "One line." };
  expect(value).toEqual({ results });
});

test("a tool without a file says what it needs", async () => {
  expect(await call("summarize_file")).toMatchObject({ isError: true });
  expect(await call("join_files", { filenames: [] })).toMatchObject({ isError: true });
});

test("a report is written for whoever asks, and no markup of its title counts", async () => {
  const { display } = await call("make_report", { title: "<b>All</b> of it", username: "somebody else" });
  expect(display).toMatchObject({ open_canvas: true, mode: "split", primary_file: "-b-all-b-of-it.html" });
  const page = await new Response(await userFiles.storage(scope).open("-b-all-b-of-it.html")).text();
  expect(page).toContain("<h1>&lt;b>All&lt;/b> of it</h1>");
  expect(page).toContain("written for ada");
});

test("files are joined in their order", async () => {
  await call("join_files", { filenames: ["notes.txt", "notes.txt"] });
  const joined = await new Response(await userFiles.storage(scope).open("joined.txt")).text();
  expect(joined).toBe("One line.\nAnother.\n\nOne line.\nAnother.\n");
});

test("a silent tool heeds that it is given up", async () => {
  const giving = new AbortController();
  const called = call("stay_silent", { seconds: 300 }, giving.signal);
  giving.abort(new Error("enough"));
  await expect(called).rejects.toThrow("enough");
});

test("a path is refused where there is no folder", async () => {
  expect((await call("draft_letter")).text).toContain("E_INVALID_PATH");
});
