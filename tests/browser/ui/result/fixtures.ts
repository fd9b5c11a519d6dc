/**
 * Results as `<sluice-result>` is given them, made by the real engine.
 * @module
 */
import { type ArtifactStore, createSluice, MemoryArtifactStore, type SluiceConfig } from "mcp-sluice";
import { page } from "vitest/browser";
import "../../../../web/ui/result.js";
import type { SluiceResult } from "../../../../web/ui/result.js";

/** How long a busy machine may take. */

/** An empty page with room for both sides. */
export async function begin(): Promise<void> {
  document.body.replaceChildren();
  await page.viewport(1_200, 900);
}

/** A PNG as far as its signature and header say so, then bytes of any kind. */
export const PNG: Uint8Array = file([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82], 6_000);
/** A PDF as far as its signature says so. */
export const PDF: Uint8Array = file([37, 80, 68, 70, 45, 49, 46, 55, 10], 40_000);

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** A result with each way in which bytes arrive. */
export const MIXED = {
  content: [
    { type: "text", text: "The report is ready." },
    { type: "image", data: base64(PNG), mimeType: "image/png" },
    {
      type: "resource",
      resource: { uri: "file:///report.pdf", mimeType: "application/pdf", blob: base64(PDF) },
    },
    { type: "resource_link", uri: "file:///rows.csv", name: "rows", mimeType: "text/csv", size: 100_000 },
    { type: "text", text: JSON.stringify({ file: { name: "a.pdf", data: base64(PDF) }, pages: [1, 2, 3] }) },
    { type: "text", text: `See ![](data:image/png;base64,${base64(PNG)}) there.` },
    { type: "text", text: "A long way home. ".repeat(3_000) },
  ],
};

/** The element with all that it is given for a result. */
export async function shown(
  result: unknown,
  more: Partial<SluiceResult> = {},
  config: SluiceConfig = {},
  store: ArtifactStore = new MemoryArtifactStore({ retention: null }),
): Promise<SluiceResult> {
  const sluice = await createSluice({ store, config });
  const call = { tool: "report", namespace: "demo" };
  const seen = await sluice.transform(result, call);
  const kept = await sluice.transform(result, { ...call, dialect: "mcp" });
  const element = Object.assign(document.createElement("sluice-result"), {
    reduced: kept.text,
    observation: seen.text,
    artifacts: seen.artifacts,
    bytesIn: seen.bytesIn,
    bytesOut: seen.bytesOut,
    raw: () => Promise.resolve(streamOf(sluice.restoreStream(kept.text))),
    ...(kept.refs !== undefined && { refs: kept.refs }),
    ...more,
  });
  document.body.append(element);
  await settled(element);
  return element;
}

/** When the element and all elements in it are loaded and drawn. */
export async function settled(element: SluiceResult): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await element.updateComplete;
    for (const each of all(element, "*")) {
      if (each.localName.startsWith("sluice-")) await customElements.whenDefined(each.localName);
      if ("updateComplete" in each) await each.updateComplete;
    }
  }
}

/** The elements of a selector at any depth of shadow trees. */
export function all<T extends Element = HTMLElement>(root: Element | ShadowRoot, selector: string): T[] {
  const found: T[] = [];
  const scope: ParentNode = root instanceof Element ? (root.shadowRoot ?? root) : root;
  for (const each of scope.querySelectorAll("*")) {
    if (each.matches(selector)) found.push(each as T);
    if (each.shadowRoot !== null) found.push(...all<T>(each.shadowRoot, selector));
  }
  return found;
}

/** The first of them; throws when there is none. */
export function one(root: Element, selector: string): HTMLElement {
  const found = all(root, selector).at(0);
  if (found === undefined) throw new Error(`There is no ${selector}.`);
  return found;
}

/** Chooses a view. */
export async function choose(element: SluiceResult, value: string): Promise<void> {
  one(element, `.segmented input[value="${value}"]`).click();
  await settled(element);
}

/** What the rows of trees say. */
export function rows(element: Element): string[] {
  return all(element, "[role=treeitem]").map((row) => row.textContent.replace(/\s+/g, " ").trim());
}

/** What is lit in the model's text. */
export function lit(): string[] {
  return Array.from(CSS.highlights.get("sluice-counterpart") ?? [], (range) =>
    range instanceof Range ? range.toString() : "",
  );
}

/** All text on the screen, without styles. */
export function textOn(root: Element): string {
  const scope: ParentNode = root.shadowRoot ?? root;
  return [...scope.childNodes].map(textOf).join(" ");
}

function textOf(node: Node): string {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element) || node instanceof HTMLStyleElement) return "";
  return [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(textOf).join(" ");
}

function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done === true) controller.close();
      else controller.enqueue(value.slice());
    },
    async cancel() {
      await source.return?.();
    },
  });
}

function file(head: readonly number[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = size;
  for (let at = 0; at < size; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  bytes.set(head);
  return bytes;
}
