/** What somebody drops, pastes or picks, without any server (check 9). */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { salesReport } from "../../web/playground/demo/report.js";
import { gated, inView } from "./in-view.js";
import { measured } from "./measured.js";
import { SITE_URL, act, go, pick, visitor, exactly } from "./visit.js";

const seen = visitor();
const pdf = salesReport("Q3");

const card = (page: Page): Locator => page.locator("playground-try playground-call");
const modelSide = (page: Page): Promise<string | null> => exactly(card(page));

/** The results that are dropped, by the names of their files. */
function results(): Readonly<Record<string, string>> {
  const data = Buffer.from(pdf).toString("base64");
  const content = [
    { type: "text", text: "Here it is." },
    { type: "resource", resource: { uri: "file:///q3.pdf", mimeType: "application/pdf", blob: data } },
  ];
  return {
    "call-tool-result.json": JSON.stringify({ content }, null, 2),
    "json-rpc.json": JSON.stringify({ jsonrpc: "2.0", id: 7, result: { content } }),
    "content-array.json": `\uFEFF${JSON.stringify(content)}`,
  };
}

/** What the library makes of what is dropped. */
function expected(json: string): Promise<string> {
  return gated({ original: json.replace(/^\uFEFF/, ""), tool: "dropped", server: "dropped" });
}

/** Drops a file somewhere in the window, as a browser tells of it. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(
    ([file, body]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([body], file));
      for (const kind of ["dragenter", "dragover"]) {
        document.body.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    [name, text] as const,
  );
  await page.getByText("Drop a CallToolResult, a JSON-RPC response, or any file").waitFor();
  await page.evaluate(
    ([file, body]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([body], file));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    [name, text] as const,
  );
  await card(page).getByRole("heading", { name, exact: true }).waitFor();
  await card(page).getByRole("button", { name: "Run again" }).waitFor();
}

describe.each(["call-tool-result.json", "json-rpc.json", "content-array.json"])("%s", { tags: "check-9" }, (name) => {
  test("is gated as what it says when it is picked", async () => {
    const { page } = seen;
    const text = results()[name] ?? "";
    await pick(page, name, text, "application/json");
    expect(await modelSide(page)).toBe(await expected(text));
    const { artifacts } = await inView(page);
    expect(artifacts).toMatchObject([{ mime_type: "application/pdf", size_bytes: pdf.length }]);
  });

  test("is gated the same when it is dropped, in whatever view", async () => {
    const { page } = seen;
    const text = results()[name] ?? "";
    await go(page, "Guardrails");
    await drop(page, name, text);
    expect(await modelSide(page)).toBe(await expected(text));
  });
});

describe("a file", { tags: "check-9" }, () => {
  test("that is no JSON is taken as a server would send it", async () => {
    const { page } = seen;
    await pick(page, "report.pdf", pdf, "application/pdf");
    const { artifacts, original } = await inView(page);
    expect(artifacts).toMatchObject([{ mime_type: "application/pdf", size_bytes: pdf.length, filename: "report.pdf" }]);
    expect(JSON.parse(original)).toEqual({
      content: [
        {
          type: "resource",
          resource: {
            uri: "file:///report.pdf",
            mimeType: "application/pdf",
            blob: Buffer.from(pdf).toString("base64"),
          },
        },
      ],
    });
    expect(await modelSide(page)).toBe(await expected(original));
  });

  test("is chosen by the card of the first view", async () => {
    const { page } = seen;
    await go(page, "Try");
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Drop your own file" }).click(),
    ]);
    await chooser.setFiles({
      name: "chosen.json",
      mimeType: "application/json",
      buffer: Buffer.from('{"content":[]}'),
    });
    await card(page).getByRole("heading", { name: "chosen.json", exact: true }).waitFor();
  });

  test("may be several, each of which is a call", async () => {
    const { page } = seen;
    const files = ["one.json", "two.json"].map((name) => ({
      name,
      mimeType: "application/json",
      buffer: Buffer.from(`{"content":[{"type":"text","text":"${name}"}]}`),
    }));
    await page.locator("playground-try input[type=file]").setInputFiles(files);
    const calls = page.locator("playground-try").getByRole("complementary", { name: "Calls" });
    for (const { name } of files) {
      await calls.getByRole("button", { name: new RegExp(`^${name}.*done$`) }).click();
      await expect.poll(() => modelSide(page)).toContain(name);
    }
  });
});

describe("a text file", { tags: "check-9" }, () => {
  const LIMIT = 16 * 1024;
  const block = async (page: Page): Promise<Readonly<Record<string, unknown>>> => {
    const { original } = await inView(page);
    const { content } = JSON.parse(original) as { content: readonly [{ resource: Record<string, unknown> }] };
    return content[0].resource;
  };

  test.each([
    ["notes.md", "text/markdown", "[Notes](https://shop.test) of today: naïve, 日本.\n"],
    ["list.md", "text/markdown", "[\n  not JSON\n"],
    ["rows.csv", "text/csv", "a,b\n1,2\n"],
    ["braces.log", "", "{ started }\n"],
    ["full.txt", "text/plain", "x".repeat(LIMIT)],
  ])("that is short reaches the model as text: %s", async (name, type, text) => {
    const { page } = seen;
    await pick(page, name, text, type);
    expect(await block(page)).toMatchObject({ uri: `file:///${name}`, text });
    expect(await modelSide(page)).toContain(JSON.stringify(text.slice(0, 200)).slice(1, -1));
    expect(await card(page).getByRole("alert").count()).toBe(0);
  });

  test.each([
    ["longer.txt", "x".repeat(LIMIT + 1)],
    ["latin.txt", new Uint8Array([0x6e, 0x61, 0xef, 0x76, 0x65])],
    ["page.html", "<p>short</p>"],
  ])("of another kind is bytes: %s", async (name, text) => {
    const { page } = seen;
    await pick(page, name, text, "");
    expect(await block(page)).toMatchObject({ uri: `file:///${name}`, blob: Buffer.from(text).toString("base64") });
  });

  test("that is called JSON and is empty is an error, in a sentence", async () => {
    const { page } = seen;
    await pick(page, "empty.json", "", "application/json");
    const problem = await card(page).getByRole("alert").innerText();
    expect(problem).toContain("The file is empty: drop one with something in it.");
    const calls = page.locator("playground-try").getByRole("complementary", { name: "Calls" });
    await calls.getByRole("button", { name: /^empty\.json.*failed$/ }).waitFor();
  });
});

test("the name of a file stays: in the heading, the chip, the card, and the download", async () => {
  const { page } = seen;
  const name = "Umsätze (Q3) – final.pdf";
  await pick(page, name, pdf, "application/pdf");
  await card(page).getByRole("heading", { name, exact: true }).waitFor();
  await card(page).locator("sluice-result").getByText(name).first().waitFor();
  const stored = card(page).locator("sluice-artifact").first();
  await stored.getByText(name, { exact: true }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), act(stored, "Download original")]);
  expect(download.suggestedFilename()).toBe(name);
});

test("text is taken when it is pasted", async () => {
  const { page } = seen;
  await go(page, "Try");
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", '{"content":[{"type":"text","text":"from elsewhere"}]}');
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  await card(page).getByRole("heading", { name: "pasted.json", exact: true }).waitFor();
  await expect.poll(() => modelSide(page)).toContain("from elsewhere");
});

describe("JSON that is broken", { tags: "check-9" }, () => {
  const BROKEN: readonly (readonly [string, string, number, number])[] = [
    [
      "comma.json",
      '{\n  "content": [\n    { "type": "text", "text": "é" },\n    { "type": "text" "text": 1 }\n  ]\n}',
      4,
      22,
    ],
    ["short.json", '{"content": [{"type": "text", "text": "never en', 1, 48],
    ["word.json", '[\n  "one",\n  nope\n]', 3, 3],
  ];

  test.each(BROKEN)("%s is refused with the line and the column", async (name, text, line, column) => {
    const { page } = seen;
    await pick(page, name, text, "application/json");
    const problem = card(page).getByRole("alert");
    await problem.waitFor();
    expect(await problem.innerText()).toMatch(/E_JSON_(?:SYNTAX|END)/);
    const [, says = NaN, at = NaN] = /line (\d+), column (\d+)/.exec(await problem.innerText())?.map(Number) ?? [];
    const off = Math.abs(says - line) + Math.abs(at - column);
    measured("check-9", "lines and columns that an error is off", off, { most: 0, unit: "" });
    expect(await card(page).locator("sluice-result").count()).toBe(0);
  });

  test("can be taken as a file all the same", async () => {
    const { page } = seen;
    const [name, text] = BROKEN[0] ?? ["", ""];
    await pick(page, name, text, "application/json");
    await card(page).getByRole("button", { name: "Treat it as a file anyway" }).click();
    await card(page).locator("sluice-result").waitFor();
    const { artifacts, original } = await inView(page);
    // So short a text stays in the result.
    expect(artifacts).toEqual([]);
    expect(JSON.parse(original)).toMatchObject({
      content: [{ resource: { blob: Buffer.from(text).toString("base64") } }],
    });
  });
});

test("nothing complains, and nothing is asked of any other origin", () => {
  expect(seen.complaints).toEqual([]);
  expect(seen.requests.filter((url) => !url.startsWith(SITE_URL) && !url.startsWith("blob:"))).toEqual([]);
});
