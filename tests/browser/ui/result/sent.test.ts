/** `<sluice-result>`: what the server sent, block by block, and what of it the model sees lit beside it. */
import { NoOpArtifactStore } from "mcp-sluice";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import type { ShownArtifact } from "../../../../web/ui/shown.js";
import { refusedBy, violations } from "../support.js";
import { all, base64, begin, choose, lit, MIXED, one, PDF, PNG, rows, settled, shown, textOn } from "./fixtures.js";

describe("what was sent", () => {
  beforeEach(begin);

  test("shows the blocks in order, with chips for what was taken out", async () => {
    const element = await shown(MIXED);
    expect(all(element, "li .name").map((name) => name.textContent)).toEqual([
      "text",
      "image",
      "resource",
      "resource link",
      "text",
      "text",
      "text",
    ]);
    const chips = all(element, ".chip .what").map((what) => what.textContent.trim());
    expect(chips).toHaveLength(5);
    expect(chips[0]).toMatch(/^\S+\.png image\/png · 5\.9 KB$/);
    expect(chips[1]).toMatch(/^\S+\.pdf application\/pdf · 39\.1 KB$/);
    expect(chips[4]).toMatch(/text\/plain · 49\.8 KB$/);
    // A hash is for those who ask.
    expect(one(element, ".chip .what").title).toMatch(/^PNG image.*\nSHA-256 [0-9a-f]{64}$/);
    expect(textOn(element)).not.toMatch(/[0-9a-f]{16}…/);
  });

  test("says which rule acted, and why", async () => {
    const element = await shown(MIXED);
    const badges = all(element, ".badge").map((badge) => badge.textContent.replace(/\s+/g, " ").trim());
    expect(badges.map((badge) => badge.slice(0, 2))).toEqual(["L2", "L2", "L1", "L3", "L3", "L0"]);
    expect(one(element, ".chip .why").textContent).toContain("The server sent it as bytes of an image block.");
  });

  test("says what the badge of a rule means, by keyboard too, with the way to the docs", async () => {
    const element = await shown(MIXED);
    const rule = one(element, "sluice-result-rule");
    const badge = one(rule, ".badge");
    const about = badge.getAttribute("aria-describedby") ?? "";
    expect(one(rule, `#${about}`).textContent).toContain("what the server itself marks as a file");
    const button = one(element, '.chip button[aria-label^="Show"]');
    button.focus();
    await userEvent.keyboard("{Tab}");
    expect((rule.getRootNode() as ShadowRoot).activeElement).toBe(rule);
    await vi.waitFor(() => expect(one(rule, "[popover]").matches(":popover-open")).toBe(true));
    await userEvent.keyboard("{Tab}");
    expect(rule.shadowRoot?.activeElement).toBe(one(rule, "[popover] a"));
    expect(await violations(element)).toEqual([]);
    await userEvent.keyboard("{Escape}");
    await vi.waitFor(() => expect(all(rule, "[popover]")).toHaveLength(0));
  });

  test("tells configured fields", async () => {
    const config = { tool_fields: { report: [{ field_path: "report.note", content_type: "Note" }] } };
    const result = { content: [{ type: "text", text: JSON.stringify({ report: { note: "short words", n: 1 } }) }] };
    const element = await shown(result, { fields: ["report.note"] }, config);
    expect(one(element, ".badge").textContent).toContain("L4");
  });

  test("shows what a structured result, a JSON-RPC response and a plain value hold", async () => {
    const structured = {
      content: [{ type: "text", text: "x" }],
      structuredContent: { pdf: base64(PDF) },
      isError: false,
    };
    const element = await shown({ jsonrpc: "2.0", id: 1, result: structured });
    expect(all(element, "li .name").map((name) => name.textContent)).toEqual(["text", "structuredContent", "isError"]);
    const value = await shown([{ pdf: base64(PDF) }, 12]);
    expect(rows(value)[0]).toContain("array, 2 elements");
    expect(all(value, "li")).toHaveLength(1);
  });

  test("never shows a run of what was taken out", async () => {
    const element = await shown(MIXED);
    for (const row of all(element, "[role=treeitem][aria-expanded=false]")) row.click();
    await settled(element);
    expect(textOn(element)).not.toMatch(/[A-Za-z0-9+/_-]{200,}/);
    await choose(element, "diff");
    await vi.waitFor(() => expect(all(element, ".line").length).toBeGreaterThan(5));
    expect(textOn(element)).not.toMatch(/[A-Za-z0-9+/_-]{200,}/);
  });

  test("does not show the bytes of an image that the model sees", async () => {
    const reduced = JSON.stringify({ content: [{ type: "image", data: base64(PDF), mimeType: "image/png" }] });
    const element = await shown({}, { reduced });
    expect(one(element, ".chip bdi").textContent).toBe("image/png · 39.1 KB");
    expect(textOn(one(element, "sluice-result-sent"))).not.toMatch(/[A-Za-z0-9+/_-]{200,}/);
  });

  test("shows JSON in a text as a tree or as the text", async () => {
    const element = await shown({
      content: [
        { type: "text", text: '{"a": [1, {"b": 12345678901234567890}]}' },
        { type: "text", text: "b" },
      ],
    });
    expect(rows(element)).toEqual(["object, 1 member", "a: array, 2 elements"]);
    const button = all(element, "button").find(({ textContent }) => textContent.trim() === "As text");
    button?.click();
    await settled(element);
    expect(one(element, "li .text").textContent).toBe('{"a": [1, {"b": 12345678901234567890}]}');
  });

  test("shortens long strings until somebody asks", async () => {
    const element = await shown({ content: [{ type: "text", text: "word ".repeat(1_000) }] });
    expect(one(element, "li .text").textContent).toHaveLength(2_001);
    all(element, "li button")
      .find(({ textContent }) => textContent.includes("Show all"))
      ?.click();
    await settled(element);
    expect(one(element, "li .text").textContent).toBe("word ".repeat(1_000));
  });

  test("shows the reduced result and says why, when its list does not fit", async () => {
    const reduced = '{"content":[],"_meta":{"sluice/refs":[{"at":"/gone","added":true}]}}';
    const element = await shown({}, { reduced });
    expect(one(element, "[role=alert]").textContent).toContain("could not be restored");
    expect(all(element, "li .name").map((name) => name.textContent)).toEqual(["_meta"]);
  });

  test("shows what a server calls things without what hides or moves it", async () => {
    const reduced = JSON.stringify({
      content: [{ type: "resource_link", uri: "x:1", name: "photo\u202egpj.exe", title: "t".repeat(400) }],
      ["m\u200b".repeat(1_000)]: 1,
    });
    const mime_type = "image/png\u202e";
    const element = await shown({}, { reduced, artifacts: [] });
    expect(all(element, "dd").map(({ textContent }) => textContent)).toEqual([
      "photo gpj.exe",
      `${"t".repeat(299)}…`,
      "x:1",
    ]);
    expect(all(element, "li .name")[1]?.textContent).toBe(`${"m\ufffd".repeat(100)}…`);
    const [artifact] = (await shown(MIXED)).artifacts;
    const named = { ...artifact, id: artifact?.id ?? "", mime_type, source: { description: "a\u202eb" } };
    const other = await shown(MIXED, { artifacts: [named] });
    expect(one(other, ".chip .what").textContent.trim()).toMatch(/image\/png · 5\.9 KB$/);
    expect(one(other, ".chip .what").title).toMatch(/^a b\n/);
  });

  test("asks for a preview", async () => {
    const element = await shown(MIXED);
    const asked: ShownArtifact[] = [];
    document.body.addEventListener("sluice-preview", (event) =>
      asked.push((event as CustomEvent<ShownArtifact>).detail),
    );
    one(element, '.chip button[aria-label^="Preview"]').click();
    expect(asked.map(({ mime_type }) => mime_type)).toEqual(["image/png"]);
  });

  test("offers no preview of what was not stored", async () => {
    const element = await shown(MIXED, {}, {}, new NoOpArtifactStore());
    const chips = all(element, ".chip");
    expect(chips.length).toBeGreaterThan(3);
    for (const chip of chips) {
      expect(chip.getAttribute("aria-label")).toMatch(/^Not stored: /);
      expect(chip.textContent).toContain("not stored");
    }
    expect(all(element, '.chip button[aria-label^="Preview"]')).toEqual([]);
    const unnamed = await shown(MIXED, { artifacts: [] }, {}, new NoOpArtifactStore());
    expect(all(unnamed, ".chip").length).toBeGreaterThan(3);
    expect(all(unnamed, '.chip button[aria-label^="Preview"]')).toEqual([]);
  });

  /** Points there, behind the round corner, until it holds: what is under the pointer may move while the page is laid out. */
  async function pointing(target: HTMLElement, holds: () => void): Promise<void> {
    await vi.waitFor(async () => {
      await userEvent.hover(target, { position: { x: 12, y: 4 } });
      holds();
    });
  }

  test("pointing at a chip lights the artifact in the model's text", async () => {
    const element = await shown(MIXED);
    await pointing(one(element, ".chip"), () => expect(lit()).toHaveLength(2));
    expect(lit()[0]).toMatch(
      /^\{\s*"type": "image",\s*"artifact": \{\s*"id": "demo_[0-9a-f]{12}"[^]*"summary": "PNG image[^"]*"\s*\}$/,
    );
    expect(lit()[1]).toMatch(/^artifact:\/\/demo_[0-9a-f]{12}\?type=image\/png/);
    await pointing(one(element, "code"), () => expect(lit()).toEqual([]));
  });

  test("pointing at what passed lights where it stands", async () => {
    const element = await shown(MIXED);
    await pointing(one(element, "li .text"), () => expect(lit()).toEqual(['"The report is ready."']));
  });

  test("going from one block to the next lights the next, by pointer and by focus", async () => {
    const element = await shown(MIXED);
    const chips = all(element, ".chip");
    await pointing(one(element, "li .text"), () => expect(lit()).toEqual(['"The report is ready."']));
    await pointing(chips[0]!, () => expect(lit()[0]).toContain("image/png"));
    await pointing(chips[1]!, () => expect(lit()[0]).toContain("application/pdf"));
    const buttons = chips.slice(0, 3).map((chip) => chip.querySelector("button"));
    for (const [at, type] of [
      [0, "image/png"],
      [1, "application/pdf"],
      [0, "image/png"],
    ] as const) {
      buttons[at]?.focus();
      expect(lit()[0]).toContain(type);
    }
  });

  test("so does going from row to row of a tree", async () => {
    const element = await shown({
      content: [{ type: "text", text: JSON.stringify({ a: base64(PDF), b: base64(PNG) }) }],
    });
    const chips = all(one(element, "sluice-result-tree"), ".chip");
    for (const [at, type] of [
      [0, "application/pdf"],
      [1, "image/png"],
    ] as const) {
      await pointing(chips[at]!, () => expect(lit()[0]).toContain(type));
    }
  });

  test("pointing at an artifact in the model's text lights its chips", async () => {
    const element = await shown(MIXED);
    const code = one(element, "code");
    const range = document.createRange();
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (!(walker.nextNode()?.textContent ?? "image/png").includes("image/png"));
    const node = walker.currentNode as Text;
    const at = node.data.indexOf("image/png");
    range.setStart(node, at);
    range.setEnd(node, at + 3);
    const { left, top } = range.getBoundingClientRect();
    code.dispatchEvent(
      new PointerEvent("pointermove", { clientX: left + 4, clientY: top + 4, bubbles: true, composed: true }),
    );
    await settled(element);
    expect(all(element, ".chip.lit").length).toBe(2);
  });

  test("the keyboard gets from a chip to where the model sees it", async () => {
    const element = await shown(MIXED);
    const button = one(element, '.chip button[aria-label^="Show"]');
    expect(button.getAttribute("aria-label")).toMatch(/in model view, characters \d+ to \d+, and 1 more$/);
    button.focus();
    expect(lit()).toHaveLength(2);
    await userEvent.keyboard("{Enter}");
    const area = one(element, "pre");
    await vi.waitFor(() => expect((area.getRootNode() as ShadowRoot).activeElement).toBe(area));
    await vi.waitFor(() => expect(one(element, ".bar [role=status]").textContent).toMatch(/^Shown at characters/));
  });

  test.each(["split", "diff", "raw"] as const)("axe finds nothing in %s", async (view) => {
    const element = await shown(MIXED, { clamped: true });
    await choose(element, view);
    await vi.waitFor(() => expect(all(element, view === "split" ? "li" : ".line").length).toBeGreaterThan(4));
    expect(await violations(element)).toEqual([]);
  });

  test("a page without inline styles shows all of it", async () => {
    const refused = await refusedBy(async () => {
      const element = await shown(MIXED);
      await choose(element, "diff");
      await vi.waitFor(() => expect(all(element, ".line").length).toBeGreaterThan(4));
    });
    expect(refused).toEqual([]);
  });
});

/** `<sluice-result>`: its views, the tree by keyboard, and large results. */
describe("views", () => {
  beforeEach(begin);

  test("diff shows what stands instead of what was taken out", async () => {
    const element = await shown({ content: [{ type: "text", text: JSON.stringify({ a: 1, pdf: base64(PDF) }) }] });
    await choose(element, "diff");
    await vi.waitFor(() => expect(all(element, "del").length).toBeGreaterThan(0));
    expect(
      all(element, "del")
        .map((line) => line.textContent)
        .join("\n"),
    ).toContain('"pdf": [application/pdf · 39.1 KB');
    expect(
      all(element, "ins")
        .map((line) => line.textContent)
        .join("\n"),
    ).toContain('"mime_type": "application/pdf"');
    expect(
      all(element, "del, ins")
        .map((line) => line.textContent)
        .join("\n"),
    ).not.toContain('"a": 1');
  });

  test("raw shows the original by lines that are in view", async () => {
    const element = await shown(MIXED);
    await choose(element, "raw");
    await vi.waitFor(() => expect(all(element, ".line").length).toBeGreaterThan(10));
    expect(one(element, ".line").textContent).toBe(`1${JSON.stringify(MIXED).slice(0, 120)}`);
    expect(all(element, ".line").length).toBeLessThan(100);
  });

  test("raw says when the original cannot be had", async () => {
    const element = await shown(MIXED, { raw: () => Promise.reject(new Error("/home/somebody/secret")) });
    await choose(element, "raw");
    await vi.waitFor(() => expect(one(element, "[role=alert]").textContent).toBe("The original could not be read."));
  });

  test("raw stops at what it may hold", async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(97);
    const raw = (): Promise<ReadableStream<Uint8Array>> =>
      Promise.resolve(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
    const element = await shown(MIXED, { raw });
    await choose(element, "raw");
    await vi.waitFor(() => expect(textOn(element)).toContain("The first 32.0 MB"));
  });

  test("at a narrow width one side is shown, and a chip leads to the other", async () => {
    const element = await shown(MIXED);
    element.style.width = "390px";
    await vi.waitFor(() => expect(all(element, "sluice-result-model")).toHaveLength(0));
    await settled(element);
    expect(all<HTMLInputElement>(element, ".segmented input").map(({ value }) => value)).toEqual([
      "sent",
      "model",
      "diff",
      "raw",
    ]);
    expect(element.scrollWidth).toBeLessThanOrEqual(390);
    one(element, '.chip button[aria-label^="Show"]').click();
    await vi.waitFor(() => expect(lit()).toHaveLength(2));
    expect(all(element, "sluice-result-sent")).toHaveLength(0);
  });

  test("one side may be preferred at any width", async () => {
    const element = await shown(MIXED, { view: "model" });
    expect(all(element, "sluice-result-sent")).toHaveLength(0);
    await choose(element, "split");
    expect(all(element, "sluice-result-sent")).toHaveLength(1);
  });

  test("is the observation, character for character", async () => {
    const element = await shown(MIXED);
    one(one(element, "sluice-result-model"), "button[aria-pressed]").click();
    await settled(element);
    expect(one(element, "code").textContent).toBe(element.observation);
    const odd = await shown({}, { observation: '"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "' });
    expect(one(odd, "code").textContent).toBe('"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "');
  });

  test("is indented and coloured, and exact on demand", async () => {
    const element = await shown(MIXED);
    const exact = one(one(element, "sluice-result-model"), "button[aria-pressed]");
    expect(one(element, "code").textContent).toMatch(/^\{\n {2}"content": \[\n {4}\{\n/);
    expect(all(element, "code .k").at(0)?.textContent).toBe('"content"');
    exact.click();
    await settled(element);
    expect(one(element, "code").textContent).toBe(element.observation);
  });

  test("a line breaks between tokens, and within one only where it is longer than the line", async () => {
    const words = Array.from({ length: 60 }, (_, at) => [`key-${at}`, `value-${at}-${"x".repeat(at % 20)}`] as const);
    const long = "say it again, ".repeat(30);
    const element = await shown({}, { observation: JSON.stringify({ ...Object.fromEntries(words), long }) });
    one(one(element, "sluice-result-model"), "button[aria-pressed]").click();
    await settled(element);
    const height = Number.parseFloat(getComputedStyle(one(element, "code")).lineHeight);
    const linesOf = (part: Element): number => Math.round(part.getBoundingClientRect().height / height);
    expect(linesOf(one(element, "code .section"))).toBeGreaterThan(10);
    await vi.waitFor(() => expect(all(element, "code :is(.k, .s, .n)")).toHaveLength(122));
    const tokens = all(element, "code :is(.k, .s, .n)");
    const broken = (): string[] => tokens.filter((token) => linesOf(token) > 1).map(({ textContent }) => textContent);
    await vi.waitFor(() => expect(broken()).toEqual([`"${long}"`]));
    // No line begins with a comma.
    const code = one(element, "code");
    const { left } = code.getBoundingClientRect();
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let commas = 0;
    while (walker.nextNode() !== null) {
      const node = walker.currentNode as Text;
      if (node.data !== ",") continue;
      commas += 1;
      range.selectNodeContents(node);
      expect(range.getBoundingClientRect().left).toBeGreaterThan(left + 4);
    }
    expect(commas).toBe(60);
  });

  test("a long text is coloured where it is looked at, and stays few elements", async () => {
    const list = Array.from({ length: 6_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const observation = JSON.stringify(list);
    const element = await shown({}, { observation });
    const area = one(element, "pre");
    const colouredIn = (): number => {
      const { top, bottom } = area.getBoundingClientRect();
      return all(element, "code .k").filter((key) => {
        const at = key.getBoundingClientRect();
        return at.bottom > top && at.top < bottom;
      }).length;
    };
    expect(colouredIn()).toBeGreaterThan(5);
    for (const share of [0.5, 0.98, 0.1]) {
      area.scrollTop = area.scrollHeight * share;
      await vi.waitFor(() => expect(colouredIn()).toBeGreaterThan(5));
    }
    expect(all(element, "*").length).toBeLessThan(5_000);
    expect(JSON.stringify(JSON.parse(one(element, "code").textContent))).toBe(observation);
  });

  test("a reference in it says the name of its file, and opens the preview by mouse and keyboard", async () => {
    const element = await shown(MIXED);
    const asked: string[] = [];
    element.addEventListener("sluice-preview", (event) => asked.push((event as CustomEvent<ShownArtifact>).detail.id));
    const reference = one(element, "code .ref");
    const id = reference.textContent.slice(1, -1);
    expect(reference.title).toMatch(/^Preview: .+\.(?:png|pdf)$/);
    reference.click();
    reference.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    expect(asked).toEqual([id, id]);
    reference.focus();
    await settled(element);
    expect(all(element, ".chip.lit").length).toBeGreaterThan(0);
  });

  test("says what the guardrail cut", async () => {
    const element = await shown(MIXED, { clamped: { originalChars: 120_000, clampedChars: 50_000 } });
    expect(one(element, ".clamp").textContent).toContain("from 120,000 to 50,000 characters");
  });

  test("keeps the bytes of an image small on the screen", async () => {
    const observation = `{"content":[{"type":"image","data":"${base64(PDF)}"}]}`;
    const element = await shown({}, { observation });
    one(one(element, "sluice-result-model"), "button[aria-pressed]").click();
    await settled(element);
    expect(one(element, "code").textContent).toBe(observation);
    expect(one(element, ".run").getBoundingClientRect().width).toBeLessThan(200);
  });

  test("arrows open, move and close", async () => {
    const element = await shown({
      content: [
        { type: "text", text: '{"a": {"b": 1}, "c": 2}' },
        { type: "text", text: "x" },
      ],
    });
    const tree = one(element, "sluice-result-tree");
    const items = (): HTMLElement[] => all(tree, "[role=treeitem]");
    const focused = (): string => (tree.shadowRoot?.activeElement?.textContent ?? "").replace(/\s+/g, " ").trim();
    expect(items().map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1]);
    items()[0]?.focus();
    await userEvent.keyboard("{ArrowDown}");
    await vi.waitFor(() => expect(focused()).toBe("a: object, 1 member"));
    await userEvent.keyboard("{ArrowRight}");
    await vi.waitFor(() => expect(items()).toHaveLength(4));
    await userEvent.keyboard("{ArrowRight}");
    await vi.waitFor(() => expect(focused()).toBe("b: 1"));
    await userEvent.keyboard("{ArrowLeft}");
    await vi.waitFor(() => expect(focused()).toBe("a: object, 1 member"));
    await userEvent.keyboard("{ArrowLeft}");
    await vi.waitFor(() => expect(items()).toHaveLength(3));
    await userEvent.keyboard("{End}");
    await vi.waitFor(() => expect(focused()).toBe("c: 2"));
  });

  test("60,000 rows are few elements, and more come when they are asked for", async () => {
    const rowsOf = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `row ${id}`, value: id / 7 }));
    const reduced = JSON.stringify({ content: [{ type: "text", text: JSON.stringify(rowsOf) }] });
    const element = await shown({}, { reduced });
    const tree = one(element, "sluice-result-tree");
    expect(rows(tree)[0]).toBe("array, 60,000 elements");
    expect(rows(tree).at(-1)).toBe("Show 100 more of 59,900");
    expect(all(element, "*").length).toBeLessThan(5_000);
    all(tree, "[role=treeitem]").at(-1)?.click();
    await settled(element);
    expect(rows(tree)).toHaveLength(202);
    await vi.waitFor(() => expect(tree.shadowRoot?.activeElement?.textContent).toContain("100"));
  });

  test("60,000 blocks are few elements, each is reached by scrolling, and what was opened stays open", async () => {
    const content = Array.from({ length: 60_000 }, (_, n) => ({ type: "text", text: `{"row": {"n": ${n}}}` }));
    const reduced = JSON.stringify({ content });
    const element = await shown({}, { reduced });
    const area = one(element, ".scroll");
    const drawn = (): number[] => all(element, "li[data-index]").map(({ dataset }) => Number(dataset["index"]));
    await vi.waitFor(() => expect(drawn().length).toBeLessThan(12));
    expect(drawn().slice(0, 3)).toEqual([0, 1, 2]);
    const tree = one(element, "sluice-result-tree");
    all(tree, "[role=treeitem]").at(-1)?.click();
    await vi.waitFor(() => expect(rows(tree)).toHaveLength(3));
    for (const [share, index] of [
      [1, 59_999],
      [0.5, 30_000],
    ] as const) {
      await vi.waitFor(() => {
        area.scrollTop = area.scrollHeight * share;
        expect(drawn().some((at) => Math.abs(at - index) < 20)).toBe(true);
      });
      expect(drawn().length).toBeLessThan(20);
    }
    expect(all(element, "*").length).toBeLessThan(1_000);
    expect(one(element, `[data-index="${drawn().at(-1)}"]`).ariaPosInSet).toBe(String((drawn().at(-1) ?? 0) + 1));
    area.scrollTop = 0;
    await vi.waitFor(() => expect(drawn().slice(0, 3)).toEqual([0, 1, 2]));
    expect(one(element, "sluice-result-tree")).toBe(tree);
    expect(rows(tree)).toHaveLength(3);
    expect(await violations(element)).toEqual([]);
    // It goes on elsewhere in the page.
    document.body.appendChild(document.createElement("main")).append(element);
    await vi.waitFor(() => {
      area.scrollTop = area.scrollHeight;
      expect(drawn().at(-1)).toBe(59_999);
    });
  });

  test("10 MB of text are shown in part, on both sides", async () => {
    const text = "All of it is said in so many words. ".repeat(300_000);
    const reduced = JSON.stringify({ content: [{ type: "text", text }] });
    const element = await shown({}, { reduced, observation: JSON.stringify(text) });
    expect(one(element, "li .text").textContent).toHaveLength(2_001);
    expect(one(element, "code").textContent).toHaveLength(200_000);
    expect(all(element, "*").length).toBeLessThan(5_000);
  });
});
