import { MemoryArtifactStore } from "mcp-sluice";
import { UserFiles } from "mcp-sluice/files";
import { ToolNode, type ToolResult } from "mcp-sluice/tools";
import * as pdfjs from "pdfjs-dist";
// oxlint-disable-next-line import/default -- Vite gives the address of a file
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { fileDemo } from "../../../web/playground/demo/user-files.js";
import { connected } from "./connected.js";

describe("tools of the demo", () => {
  const MEGABYTE = 1024 * 1024;

  /** What a tool gives with its defaults, or with these arguments: its artifacts' types, and the least and most bytes of each. */
  const FILES: readonly (readonly [
    tool: string,
    args: Record<string, unknown>,
    type: string,
    least: number,
    most: number,
  ])[] = [
    ["sales_report", {}, "application/pdf", 3.9 * MEGABYTE, 4.3 * MEGABYTE],
    ["sales_report", { quarter: "Q1" }, "application/pdf", 3.9 * MEGABYTE, 4.3 * MEGABYTE],
    ["sales_chart", {}, "image/png", 5_000, 200_000],
    ["sales_chart", { kind: "line" }, "image/png", 5_000, 200_000],
    ["jingle", { seconds: 2 }, "audio/wav", 88_244, 88_244],
    ["sales_table", {}, "application/json", MEGABYTE, 2 * MEGABYTE],
    ["sales_table", { rows: 60_000 }, "application/json", 6 * MEGABYTE, 8 * MEGABYTE],
    ["export_csv", {}, "text/csv", 90_000, 120_000],
    ["source_code", {}, "application/typescript", 38_000, 44_000],
    ["archive", { megabytes: 1 }, "application/octet-stream", MEGABYTE, MEGABYTE],
  ];

  const TOOLS =
    "archive asks export_csv fails find_reports jingle sales_chart sales_report sales_table slow_import small_talk source_code web_page write_note".split(
      " ",
    );

  describe("the demo server's tools", () => {
    it("all say what they are, and what they take", async () => {
      const { node } = await connected();

      const own = node.getTools().filter(({ name }) => !/^demo\.(?:resources_|artifact_)/.test(name));

      expect(own.map(({ name }) => name.slice("demo.".length)).sort()).toEqual(TOOLS);
      for (const { description, input_schema } of own) {
        expect(description.length).toBeGreaterThan(10);
        for (const field of Object.values((input_schema["properties"] ?? {}) as Record<string, unknown>)) {
          expect(field).toEqual(
            expect.objectContaining({
              title: expect.any(String),
              description: expect.any(String),
              default: expect.anything(),
            }),
          );
        }
      }
    });

    it.each(FILES)("gives files: %s %o", async (tool, args, type, least, most) => {
      const { node } = await connected();

      const { isError, artifacts } = await node.call(tool, args);

      expect(isError).toBe(false);
      expect(artifacts.map(({ mime_type }) => mime_type)).toEqual([type]);
      expect(artifacts[0]?.size_bytes).toBeGreaterThanOrEqual(least);
      expect(artifacts[0]?.size_bytes).toBeLessThanOrEqual(most);
    });

    it("gives the same file every time", async () => {
      const { node } = await connected();

      const [first, second] = [await node.call("sales_report"), await node.call("sales_report")];

      expect(first.artifacts[0]?.sha256).toBeDefined();
      expect(second.artifacts[0]?.sha256).toBe(first.artifacts[0]?.sha256);
    });

    it("gives an archive of 100 MB", async () => {
      const { node } = await connected();

      const { artifacts } = await node.call("archive", { megabytes: 100 });

      expect(artifacts.map(({ size_bytes }) => size_bytes)).toEqual([100 * MEGABYTE]);
    });

    it("gives a page that tries what it may not", async () => {
      const { node, store } = await connected();

      const { artifacts } = await node.call("web_page");

      const text = new TextDecoder().decode((await store.get(artifacts[0]?.id ?? "")) ?? undefined);
      expect(artifacts[0]?.mime_type).toBe("text/html");
      expect(text).toContain("Sales 2025");
      expect(text).toContain("<script>");
    });

    it("gives small things unchanged", async () => {
      const { node } = await connected();

      const { value, artifacts } = await node.call("small_talk");

      expect(value).toBe("Five regions, ten products, and not one of them exists.");
      expect(artifacts).toEqual([]);
    });

    it("links to reports that are read later", async () => {
      const { node } = await connected();

      const { value, artifacts } = await node.call("find_reports");

      expect(artifacts).toEqual([]);
      expect(value).toEqual({
        content: expect.arrayContaining([expect.objectContaining({ type: "resource_link", uri: "report://sales/Q4" })]),
      });
    });

    it.each([
      ["jingle", { seconds: "four" }, "The argument seconds must be a whole number from 1 to 60."],
      ["archive", { megabytes: 101 }, "The argument megabytes must be a whole number from 1 to 100."],
      ["sales_report", { quarter: "Q5" }, "The argument quarter must be one of Q1, Q2, Q3, Q4."],
      ["write_note", { text: "x".repeat(4001) }, "The argument text must be a string of at most 4000 characters."],
      ["small_talk", { loud: true }, 'There is no argument "loud": this tool takes none.'],
      ["fails", { message: "The printer is on fire." }, "The printer is on fire."],
    ])("says what is wrong: %s %o", async (tool, args, sentence) => {
      const { node } = await connected();

      const { isError, value } = await node.call(tool, args);

      expect({ isError, value }).toEqual({ isError: true, value: { isError: true, content: sentence } });
    });

    it("asks, and hears the answer", async () => {
      const { node } = await connected();
      const asked: unknown[] = [];
      const pause = async (reason: string, payload: Readonly<Record<string, unknown>>): Promise<unknown> => {
        asked.push([reason, payload["message"]]);
        return { answer: "West" };
      };

      const answered = await node.call("asks", { question: "Where?" }, { pause });
      const declined = await node.call("asks", { question: "Where?" });

      expect(asked).toEqual([["await_input", "Where?"]]);
      expect(answered.value).toBe("The answer was: West");
      expect(declined.value).toBe("There was no answer.");
    });
  });

  describe("the slow import", () => {
    it("tells how far it is, and ends with a summary", async () => {
      const { node } = await connected();
      const told: unknown[] = [];

      const { value } = await node.call(
        "slow_import",
        { seconds: 1 },
        { onProgress: (progress) => told.push(progress) },
      );

      expect(told).toEqual([
        { progress: 0, total: 1000, message: "Reading the list of orders" },
        { progress: 500, total: 1000, message: "500 of 1,000 orders" },
        { progress: 1000, total: 1000, message: "1,000 of 1,000 orders" },
      ]);
      expect(value).toEqual({ imported: 998, skipped: 2, seconds: 1 });
    });

    it("stops when it is cancelled", async () => {
      const { node } = await connected();
      const giveUp = new AbortController();
      const reason = new Error("That is enough.");
      const told: number[] = [];
      const onProgress = ({ progress }: { progress: number }): void => {
        told.push(progress);
        giveUp.abort(reason);
      };

      await expect(node.call("slow_import", { seconds: 60 }, { signal: giveUp.signal, onProgress })).rejects.toBe(
        reason,
      );

      expect(told).toEqual([0]);
      await expect(node.call("small_talk")).resolves.toMatchObject({ isError: false });
    });
  });

  pdfjs.GlobalWorkerOptions.workerSrc = workerUrl;

  it("is a PDF of three pages with a chart, a table and pictures", async () => {
    const { node, store } = await connected();
    const { artifacts } = await node.call("sales_report", { quarter: "Q2" });
    const data = await store.get(artifacts[0]?.id ?? "");

    const document = await pdfjs.getDocument({ data: data ?? new Uint8Array() }).promise;
    onTestFinished(() => document.destroy());

    expect(document.numPages).toBe(3);
    const texts = await Promise.all([1, 2, 3].map((page) => textOf(document, page)));
    expect(texts[0]).toContain("Sales report Q2 2025");
    expect(texts[0]).toContain("Revenue by region and month");
    expect(texts[1]).toContain("Products in Q2");
    expect(texts[1]).toMatch(/Total .*\$/);
    expect(texts[2]).toContain("Outlook");
    for (const page of [1, 2, 3]) {
      const { fnArray } = await (await document.getPage(page)).getOperatorList();
      expect(fnArray).toContain(pdfjs.OPS.paintImageXObject);
    }
  });

  async function textOf(document: pdfjs.PDFDocumentProxy, page: number): Promise<string> {
    const { items } = await (await document.getPage(page)).getTextContent();
    return items.map((item) => ("str" in item ? item.str : "")).join(" ");
  }
});

/** The demo's tools that work with My Files, over the library alone. */
describe("user files", () => {
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
});
