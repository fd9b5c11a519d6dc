/** `<sluice-viewer>`: Markdown as a page, whatever it tries. */
import { expect, test } from "vitest";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { sections } from "../../../../web/ui/markdown.js";
import { eventually, refusedBy, violations } from "../support.js";
import { buttonOf, given, notice, part, settled, texts, viewing } from "./fixtures.js";

const PAGE = `# Report

Two lines
of one paragraph, with a [link](https://shop.test/a), **bold** and \`code\`.

- [x] done
- [ ] open

| region | amount |
|--------|-------:|
| North  |      1 |

\`\`\`js
const a = 1;

# no heading
\`\`\`

See [the guide][guide].

[guide]: https://shop.test/guide
`;

async function shown(text: string): Promise<SluiceViewer> {
  const viewer = await viewing(given(text, "text/markdown", "report.md"));
  await settled(viewer);
  return viewer;
}

test("has headings, lists, tables, code and links", async () => {
  const viewer = await shown(PAGE);
  const count = (selector: string): number => viewer.renderRoot.querySelectorAll(`.formatted ${selector}`).length;
  expect(["h1", "li", "table td", "pre code", "strong", "br"].map(count)).toEqual([1, 2, 2, 1, 1, 0]);
  expect(texts(viewer, ".formatted li")).toEqual(["[x] done", "[ ] open"]);
  expect(texts(viewer, ".formatted pre")[0]).toContain("\n\n# no heading");
  const links = [...viewer.renderRoot.querySelectorAll<HTMLAnchorElement>(".formatted a")];
  expect(links.map(({ href, target, rel }) => [href, target, rel])).toEqual([
    ["https://shop.test/a", "_blank", "noopener noreferrer"],
    ["https://shop.test/guide", "_blank", "noopener noreferrer"],
  ]);
  expect(await violations(viewer)).toEqual([]);
});

test("its source is the text", async () => {
  const viewer = await shown(PAGE);
  viewer.tab = "source";
  await viewer.updateComplete;
  await settled(viewer);
  await part(viewer, ".text .line");
  expect(texts(viewer, ".written").slice(0, 3)).toEqual(["# Report", "", "Two lines"]);
  expect(viewer.renderRoot.querySelector(".formatted")).toBeNull();
});

test("runs nothing and fetches nothing", async () => {
  const hostile = [
    "<script>globalThis.taken = 1</script>",
    '<img src="/taken.png" onerror="globalThis.taken = 1">',
    "![pixel](http://127.0.0.1:9/taken.png) ![own](/taken.png)",
    "[js](javascript:globalThis.taken=1) [data](data:text/html,x) [own](/api) <javascript:alert(1)>",
    '<iframe src="/taken"></iframe><svg onload="globalThis.taken = 1"></svg><style>* { display: none }</style>',
    '<form action="/taken"><button>Send</button></form><a href="https://shop.test" onclick="taken=1">a</a>',
    "```\n<script>globalThis.taken = 1</script>\n```",
    '[a]: https://shop.test "title" onmouseover=alert(1)',
  ].join("\n\n");
  const before = performance.getEntriesByType("resource").length;
  const viewer = await shown(hostile);
  const refused = await refusedBy(async () => {
    viewer.renderRoot.querySelector<HTMLElement>(".formatted a")?.focus();
  });
  expect(refused).toEqual([]);
  const allowed = "h1, h2, p, a, pre, code, br, em, strong";
  const elements = [...viewer.renderRoot.querySelectorAll(".formatted *")];
  expect(elements.filter((each) => !each.matches(allowed)).map(({ outerHTML }) => outerHTML)).toEqual([]);
  const names = new Set(elements.flatMap((each) => each.getAttributeNames()));
  expect([...names].filter((name) => !["href", "title", "target", "rel", "tabindex"].includes(name))).toEqual([]);
  const links = [...viewer.renderRoot.querySelectorAll(".formatted a")].map((each) => each.getAttribute("href"));
  expect(links.filter((href) => !/^https?:/.test(href ?? ""))).toEqual([]);
  const fetched = performance.getEntriesByType("resource").slice(before);
  expect(fetched.filter(({ name }) => name.includes("taken"))).toEqual([]);
  expect("taken" in globalThis).toBe(false);
});

test.each([
  ["quotations in quotations", ">".repeat(100_000)],
  ["lists in lists", Array.from({ length: 2000 }, (_, at) => `${"  ".repeat(at % 500)}- a`).join("\n")],
  ["stars", "*a ".repeat(40_000)],
  ["brackets", "[".repeat(100_000)],
  ["a wide table", `${"|a".repeat(5000)}|\n${"|-".repeat(5000)}|\n${"x\n".repeat(5000)}`],
])("of %s it is few elements, soon", async (_, text) => {
  const began = performance.now();
  const viewer = await shown(text);
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(viewer.renderRoot.querySelectorAll(".formatted *").length).toBeLessThan(20_000);
  expect(viewer.renderRoot.querySelector(".formatted")?.textContent).not.toBe("");
});

test("of a long one the first part is shown", async () => {
  const viewer = await shown(`# Head\n\n${"A paragraph of some words.\n\n".repeat(10_000)}`);
  expect(notice(viewer)).toMatch(/^The first \d+\.\d KB of 27\d\.\d KB is shown\. Load all/);
  const first = viewer.renderRoot.querySelectorAll(".formatted *").length;
  expect(first).toBeLessThan(5000);
  buttonOf(viewer, /^Load all/).click();
  await eventually(() => {
    expect(viewer.renderRoot.querySelectorAll(".formatted *").length).toBeGreaterThan(first + 1000);
  });
});

test("sections are the whole text, and end between blocks", () => {
  const list = Array.from({ length: 1500 }, (_, at) => `- item ${at}`).join("\n");
  const code = `\`\`\`\n${"line\n\n".repeat(3000)}\`\`\``;
  const text = `# A\n\n${"word ".repeat(600)}\n\n${list}\n\n${code}\n\nThe end.`;
  const all = [...sections(text)];
  expect(all.length).toBeGreaterThan(3);
  const page = document.createElement("div");
  page.append(...all.map(({ elements }) => elements));
  expect(all.at(-1)?.end).toBe(text.length + 1);
  expect(page.querySelectorAll("li").length).toBe(1500);
  expect([...page.querySelectorAll("pre")].map((each) => each.textContent.length)).toEqual([18_000]);
  expect(page.lastElementChild?.textContent).toBe("The end.");
});

test("an empty one says so", async () => {
  expect(texts(await shown(" \n"), ".empty")).toEqual(["It is empty."]);
});
