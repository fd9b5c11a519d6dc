/**
 * Every place of the playground that somebody can come to, and the way there.
 * @module
 */
import { downloadZip } from "client-zip";
import { expect } from "vitest";
import type { Page } from "playwright-core";
import { png } from "../../web/playground/demo/picture.js";
import { act, ask, begin, connectFiles, controlled, dial, go, openFile, PATIENCE, pick, run } from "./visit.js";

/** A place; those that need a file stand behind the one that keeps it. */
export interface Place {
  readonly name: string;
  readonly show: (page: Page) => Promise<void>;
}

/** Windows: a desk's, and a phone's, which is touched. */
export const WINDOWS = [
  { width: 1440, options: {} },
  { width: 390, options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
] as const;

/** All elements in all of their states, a tab each. */
const ELEMENTS: readonly Place[] = ["Artifact", "Viewer", "Result", "Resources", "Meter"].map((tab) => ({
  name: `Elements: ${tab}`,
  show: async (page) => {
    await page.evaluate(() => {
      location.hash = "#/elements";
    });
    await page.locator("playground-elements").getByRole("tab", { name: tab, exact: true }).first().click();
    await page.locator(`playground-elements sluice-${tab.toLowerCase()}`).first().waitFor();
  },
}));

/** In an order in which one visitor can see them all. */
export const PLACES: readonly Place[] = [
  { name: "Try", show: (page) => go(page, "Try") },
  { name: "My Files without files", show: (page) => go(page, "My Files") },
  { name: "Tools", show: (page) => run(page, "sales_chart") },
  {
    name: "Tools while one runs",
    show: async (page) => {
      await begin(page, "slow_import", { seconds: "60" });
      await page.locator("playground-tools progress[value]").waitFor();
    },
  },
  {
    name: "Try with a question",
    show: async (page) => {
      await begin(page, "asks");
      await go(page, "Try");
      await page.locator("playground-pause input").waitFor();
    },
  },
  { name: "Try with a call that failed", show: broken },
  {
    name: "Try with several images",
    show: async (page) => {
      await pick(page, "images.json", await severalImages(12), "application/json");
      await page.locator("playground-contact-sheet").getByRole("button", { name: "Preview image 12" }).waitFor();
    },
  },
  {
    name: "Resources",
    show: async (page) => {
      await go(page, "Resources");
      await page.locator("sluice-resources").getByRole("button", { name: "Today's note" }).waitFor();
    },
  },
  {
    name: "Resources with one opened",
    show: async (page) => {
      await go(page, "Resources");
      await page.locator("sluice-resources").getByRole("button", { name: "Today's note" }).click();
      await page.locator("sluice-resources").getByRole("button", { name: "Subscribe" }).waitFor();
    },
  },
  {
    name: "Resources with a template",
    show: async (page) => {
      await go(page, "Resources");
      await page.locator("sluice-resources").getByRole("tab", { name: "Templates" }).click();
      await page.locator("sluice-resources").getByRole("button", { name: "A region's sales" }).click();
      await page.locator("sluice-resources").getByRole("combobox", { name: "year" }).waitFor();
    },
  },
  { name: "Chat without questions", show: (page) => go(page, "Chat") },
  {
    name: "Chat while a tool runs",
    show: async (page) => {
      await ask(page, "Import the orders, which takes 60 seconds");
      await page.locator("playground-chat progress[value]").waitFor();
    },
  },
  {
    name: "Chat with an answer, and what the model saw",
    show: async (page) => {
      await ask(page, "Draw the chart, please");
      const turn = page.locator("playground-turn").last();
      // While the answer is written, the button moves away below the pointer.
      await turn.getByText("tokens").waitFor();
      await turn.getByRole("button", { name: "What the model saw" }).click();
      await page.locator("playground-trajectory pre").first().waitFor({ state: "attached" });
    },
  },
  {
    name: "Chat with the choice of a model",
    show: async (page) => {
      await go(page, "Chat");
      await page.locator("playground-chat").getByRole("button", { name: "Model", exact: true }).click();
      await page.getByRole("radio", { name: /^A model of your own/ }).check();
      await page.getByRole("textbox", { name: "Address" }).waitFor();
    },
  },
  {
    name: "Guardrails",
    show: async (page) => {
      await run(page, "sales_chart");
      await go(page, "Guardrails");
      await page
        .locator("playground-guardrails")
        .getByRole("heading", { name: /^Your model reads/ })
        .waitFor();
    },
  },
  {
    name: "Guardrails as JSON",
    show: async (page) => {
      await go(page, "Guardrails");
      await page.locator("playground-guardrails").getByRole("tab", { name: "JSON" }).click();
      await page.locator("playground-guardrails .cm-content").waitFor();
    },
  },
  {
    name: "Guardrails with a mistake",
    show: async (page) => {
      await go(page, "Guardrails");
      await page.locator("playground-guardrails").getByRole("tab", { name: "Form" }).click();
      const field = page.getByRole("textbox", { name: /^Store strings longer than/ });
      await field.fill("-5");
      await field.press("Tab");
      await page.getByRole("region", { name: "Form" }).getByRole("alert").waitFor();
    },
  },
  {
    name: "Log",
    show: async (page) => {
      await go(page, "Log");
      await page.locator("playground-log li").first().waitFor();
    },
  },
  {
    name: "Log with messages",
    show: async (page) => {
      await go(page, "Log");
      await page.getByRole("tab", { name: "Messages" }).click();
      const list = page.locator("playground-messages").getByRole("listitem");
      await list.filter({ hasText: "tools/list" }).getByRole("button", { expanded: false }).first().click();
      await page.locator("playground-message-text pre").first().waitFor();
    },
  },
  {
    name: "Tools with arguments as JSON",
    show: async (page) => {
      await run(page, "sales_chart");
      await page.locator("playground-arguments").getByRole("button", { name: "JSON" }).click();
      await page.getByRole("textbox", { name: "Arguments as JSON" }).waitFor();
    },
  },
  { name: "the drawer with a picture", show: (page) => look(page, "sales_chart", "img") },
  { name: "the drawer with a PDF", show: (page) => look(page, "sales_report", "canvas") },
  { name: "the drawer with a table", show: (page) => look(page, "export_csv", "[role=row]") },
  { name: "the drawer with code", show: (page) => look(page, "source_code", ".text") },
  {
    name: "the drawer with a table that is sorted and filtered",
    show: async (page) => {
      await look(page, "export_csv", "[role=row]");
      const drawer = page.locator("playground-drawer");
      await drawer.getByRole("searchbox", { name: "Filter rows" }).fill("north");
      await drawer.getByRole("columnheader").nth(1).getByRole("button").click();
      await drawer.getByRole("columnheader", { name: /./ }).and(page.locator("[aria-sort=ascending]")).waitFor();
      await drawer.getByText(/^[\d,]+ of 2,000 rows$/).waitFor();
    },
  },
  { name: "the drawer with Markdown", show: (page) => dropped(page, "guide.md", "text/markdown", guide()) },
  {
    name: "the drawer with an archive",
    show: async (page) => {
      await dropped(page, "guide.zip", "application/zip", await zipped());
      await page.locator("playground-drawer").getByRole("button", { name: "guide.md" }).waitFor();
    },
  },
  {
    name: "the drawer with a file of an archive",
    show: async (page) => {
      await dropped(page, "guide.zip", "application/zip", await zipped());
      await page.locator("playground-drawer").getByRole("button", { name: "guide.md" }).click();
      await page.locator("playground-drawer").getByRole("heading", { name: "Guide" }).waitFor();
    },
  },
  {
    name: "the drawer with what is known of a file",
    show: async (page) => {
      await look(page, "sales_chart", "img");
      await page.locator("playground-drawer").getByRole("tab", { name: "Info" }).click();
    },
  },
  {
    name: "My Files",
    show: async (page) => {
      await keep(page, "sales_chart");
      await go(page, "My Files");
      await openFile(page, "sales_chart");
    },
  },
  {
    name: "My Files while one is renamed",
    show: async (page) => {
      await go(page, "My Files");
      await openFile(page, "sales_chart");
      await page.getByRole("button", { name: /^Rename / }).click();
      await page.getByRole("textbox", { name: "New name" }).waitFor();
    },
  },
  {
    name: "Tools with links that nothing was read of",
    show: async (page) => {
      await run(page, "find_reports");
      await page
        .locator("playground-links")
        .getByRole("button", { name: /^Fetch/ })
        .first()
        .waitFor();
    },
  },
  {
    name: "a file in the place of the work",
    show: async (page) => {
      await run(page, "sales_chart");
      await act(page.locator("playground-tools sluice-artifact").first(), "Open in canvas");
      await page.locator("playground-drawer img").first().waitFor();
    },
  },
  {
    name: "the question before a session ends",
    show: async (page) => {
      await go(page, "My Files");
      await page.locator("playground-files").getByRole("button", { name: "End session" }).click();
      await page.getByRole("dialog", { name: "End session" }).waitFor();
    },
  },
  {
    name: "the servers, and an address that is none",
    show: async (page) => {
      await dial(page, "http://127.0.0.1:1/mcp");
      await page.getByRole("dialog", { name: "Servers" }).getByRole("alert").waitFor();
    },
  },
  {
    name: "the palette",
    show: async (page) => {
      await page.locator("playground-bar").getByRole("button", { name: /^Find/ }).click();
      await page.getByRole("combobox", { name: /^Find/ }).waitFor();
    },
  },
  {
    name: "the keys",
    show: async (page) => {
      await go(page, "Log");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
    },
  },
  {
    name: "the servers",
    show: async (page) => {
      await page.locator("playground-servers").getByRole("button").first().click();
      const dialog = page.getByRole("dialog", { name: "Servers" });
      await dialog.getByText("About demo").click();
      await dialog.getByText("A shop that does not exist.").waitFor();
      await dialog.getByRole("textbox", { name: "Address" }).fill("ftp://files.example/");
      await dialog.getByRole("button", { name: "Connect", exact: true }).click();
      await dialog.locator("#wrong").waitFor();
    },
  },
  {
    name: "the notifications",
    show: async (page) => {
      await page.getByRole("button", { name: /^Notifications/ }).click();
      await page.getByRole("heading", { name: "Notifications" }).waitFor();
    },
  },
  {
    name: "a tool that takes files",
    show: async (page) => {
      // Pages are shown from an address: without one, their styles are refused.
      await controlled(page);
      await connectFiles(page);
      await run(page, "summarize_file", { filename: "sales.csv" });
    },
  },
  {
    name: "a report beside its result",
    show: async (page) => {
      await run(page, "make_report");
      await page.locator("playground-drawer iframe").waitFor();
      await page.locator("playground-filed button").waitFor();
    },
  },
  {
    name: "several reports",
    show: async (page) => {
      await run(page, "make_report", { title: "First" });
      await run(page, "make_report", { title: "Second", mode: "append" });
      await page.getByRole("button", { name: "Close first.html" }).waitFor();
    },
  },
  {
    name: "My Files with what tools made",
    show: async (page) => {
      await run(page, "make_report", { title: "First", mode: "replace" });
      await go(page, "My Files");
      await page.getByRole("combobox", { name: "Category" }).waitFor();
    },
  },
  ...ELEMENTS,
];

/** A result of as many images, each of another grey. */
export async function severalImages(count: number): Promise<string> {
  const size = { width: 64, height: 64 };
  const content = Array.from({ length: count }, async (_, at) => {
    const rgb = new Uint8Array(size.width * size.height * 3).fill((at * 37) & 255);
    return { type: "image", data: Buffer.from(await png({ ...size, rgb })).toString("base64"), mimeType: "image/png" };
  });
  return JSON.stringify({ content: await Promise.all(content) });
}

/** Goes away from a place: nothing lies over the page, and nothing runs. */
export async function leave(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  const close = page.getByRole("button", { name: "Close the preview" });
  if ((await close.count()) > 0) await close.click();
  const cancel = page.getByRole("button", { name: "Cancel", exact: true });
  const count = async (): Promise<number> => {
    const buttons = await cancel.all();
    // One of them may end by itself meanwhile.
    for (const button of buttons) await button.dispatchEvent("click", {}, { timeout: 1000 }).catch(() => undefined);
    return buttons.length;
  };
  await expect.poll(count, { timeout: PATIENCE }).toBe(0);
  await expect.poll(() => page.locator("dialog[open]").count()).toBe(0);
}

/** Runs a tool, and saves what it gives to My Files. */
export async function keep(page: Page, tool: string): Promise<void> {
  await run(page, tool);
  const card = page.locator("playground-tools sluice-artifact").first();
  await card.getByRole("button", { name: /^More actions/ }).click();
  await card.getByRole("menuitem", { name: "Save to My Files" }).click();
  await page.getByRole("button", { name: "Notifications, 1 new" }).waitFor();
}

/** Runs a tool, and opens what it gives; `shown` is there once it can be seen. */
async function look(page: Page, tool: string, shown: string): Promise<void> {
  await run(page, tool);
  await page
    .locator("playground-tools sluice-artifact")
    .first()
    .getByRole("button", { name: /^Preview/ })
    .click();
  await page.locator(`playground-drawer ${shown}`).first().waitFor();
}

/** Drops a file, and opens its preview. */
async function dropped(page: Page, name: string, type: string, bytes: Uint8Array): Promise<void> {
  await pick(page, name, bytes, type);
  const card = page.locator("playground-try sluice-artifact").first();
  await card.getByRole("button", { name: /^Preview/ }).click();
  await page.locator("playground-drawer sluice-viewer").waitFor();
}

/** More text than stays in a result. */
function guide(): Uint8Array {
  const part =
    "## Part\n\nSome *words* with a [link](https://shop.test/).\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n```js\nconst a = 1;\n```\n\n";
  return new TextEncoder().encode(`# Guide\n\n${part.repeat(200)}`);
}

async function zipped(): Promise<Uint8Array> {
  const files = Array.from({ length: 40 }, (_, at) => ({ name: `logs/day ${at}.log`, input: `Line ${at}\n` }));
  return new Uint8Array(await downloadZip([{ name: "docs/guide.md", input: guide() }, ...files]).arrayBuffer());
}

async function broken(page: Page): Promise<void> {
  await go(page, "Try");
  const buffer = Buffer.from('{"content": [\n{"type": "text", }]}');
  const file = { name: "broken.json", mimeType: "application/json", buffer };
  await page.locator("playground-try input[type=file]").setInputFiles(file);
  await page.locator("playground-try").getByRole("alert").waitFor();
}
