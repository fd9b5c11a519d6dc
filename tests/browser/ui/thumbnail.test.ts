/** `<sluice-thumbnail>`: what is drawn of each kind of file, from how many bytes, and when. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { ArtifactBytes, ShownArtifact } from "../../../web/ui/shown.js";
import { SluiceThumbnail } from "../../../web/ui/thumbnail.js";
import { eventually, refusedBy, violations } from "./support.js";
import { type Given, given, pdf, png } from "./viewer/fixtures.js";

beforeEach(() => document.body.replaceChildren());

/** One of 260 by 132 pixels, as in a card. */
async function shown(
  { artifact, bytes }: { artifact: ShownArtifact; bytes?: ArtifactBytes },
  size: readonly [number, number] = [260, 132],
): Promise<SluiceThumbnail> {
  const element = Object.assign(new SluiceThumbnail(), { artifact, bytes });
  Object.assign(element.style, { inlineSize: `${size[0]}px`, blockSize: `${size[1]}px` });
  document.body.append(element);
  await element.updateComplete;
  return element;
}

function found(element: SluiceThumbnail, selector: string): HTMLElement | null {
  return element.renderRoot.querySelector<HTMLElement>(selector);
}

async function part<E extends HTMLElement = HTMLElement>(element: SluiceThumbnail, selector: string): Promise<E> {
  return eventually(() => {
    const there = element.renderRoot.querySelector<E>(selector);
    if (there === null) throw new Error(`There is no ${selector}.`);
    return there;
  });
}

function readBytes({ opened }: Given): number {
  return opened.reduce((sum, { start, end = Infinity }) => sum + end - start, 0);
}

describe("what is drawn", () => {
  test("an image is drawn small, with its address let go", async () => {
    const revoke = vi.spyOn(URL, "revokeObjectURL");
    const make = vi.spyOn(URL, "createObjectURL");
    const element = await shown(given(await png(2_000, 1_000), "image/png", "large.png"));
    const canvas = await part<HTMLCanvasElement>(element, "canvas");
    expect([canvas.width, canvas.height]).toEqual([258, 129].map((side) => side * devicePixelRatio));
    expect(revoke).toHaveBeenCalledTimes(make.mock.calls.length);
    expect(make).toHaveBeenCalledOnce();
  });

  test("a small image is never larger than it is", async () => {
    const element = await shown(given(await png(16, 16), "image/png", "small.png"));
    const canvas = await part<HTMLCanvasElement>(element, "canvas");
    expect([canvas.width, canvas.height]).toEqual([16, 16]);
    expect(getComputedStyle(canvas).objectFit).toBe("scale-down");
  });

  test("an SVG is only ever an image", async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.ran = true</script><rect width="9" height="9"/></svg>';
    const element = await shown(given(svg, "image/svg+xml", "a.svg"));
    const image = await part<HTMLImageElement>(element, "img");
    expect([image.alt, image.src.slice(0, 19)]).toEqual(["", "data:image/svg+xml;"]);
    expect(Object.hasOwn(globalThis, "ran")).toBe(false);
  });

  test("of a PDF its first page, from the ranges that it needs", { timeout: 60_000 }, async () => {
    // Time is for the drawing: a server of tests may need it for PDF.js itself.
    await import("pdfjs-dist");
    const file = given(pdf(3, { padding: 4_000_000 }), "application/pdf", "report.pdf");
    const element = await shown(file);
    await vi.waitFor(() => expect(found(element, "canvas.page")).not.toBeNull(), { timeout: 50_000 });
    const canvas = await part<HTMLCanvasElement>(element, "canvas.page");
    expect(canvas.width).toBeLessThan(canvas.height);
    expect(readBytes(file)).toBeLessThan((file.artifact.size_bytes ?? 0) / 2);
  });

  test.each([
    ["CSV", "text/csv", `id,name\n${"1,x\n2,y\n".repeat(100_000)}`, ["id", "name", "1", "x"]],
    [
      "an array of objects",
      "application/json",
      JSON.stringify(Array.from({ length: 50_000 }, () => ({ id: 1, name: "x" }))),
      ["id", "name", "1", "x"],
    ],
    ["lines of objects", "application/x-ndjson", '{"id":1}\n{"id":2}\n', ["id", "1", "2"]],
  ])("of %s the head of the table, from the first bytes", async (_, type, text, cells) => {
    const file = given(text, type, "rows");
    const element = await shown(file);
    await part(element, "table");
    const seen = [...element.renderRoot.querySelectorAll("th, td")].map(({ textContent }) => textContent);
    expect(seen.slice(0, cells.length)).toEqual(cells);
    expect(seen.length).toBeLessThan(60);
    expect(readBytes(file)).toBeLessThan(10_000);
  });

  test.each([
    ["text", "text/plain", "One.\nTwo.\n"],
    ["Markdown", "text/markdown", "# One\n"],
    ["code", "application/typescript", "const one = 1;\n"],
    ["a page", "text/html", "<script>parent.ran = true</script>"],
    ["other JSON", "application/json", '{"a": 1}'],
  ])("of %s its first lines, as text", async (_, type, text) => {
    const file = given(text + "more\n".repeat(500_000), type, "words");
    const element = await shown(file);
    const { textContent } = await part(element, "pre");
    expect(textContent.startsWith(text.trimEnd())).toBe(true);
    expect(textContent.split("\n").length).toBeLessThan(20);
    expect(readBytes(file)).toBeLessThan(10_000);
    expect(Object.hasOwn(globalThis, "ran")).toBe(false);
  });

  test.each([
    ["a sound", given("x", "audio/wav", "a.wav")],
    ["a film", given("x", "video/mp4", "a.mp4")],
    ["bytes of any kind", given("x", "application/octet-stream", "a.bin")],
    ["what is too large to be decoded", given("x", "image/png", "a.png", { size_bytes: 50_000_000 })],
    ["what is deferred", given("x", "text/plain", "a.txt", { deferred: true })],
    ["what was not stored", given("x", "text/plain", "a.txt", { sha256: null })],
  ])("of %s nothing is read: it has its icon", async (_, file) => {
    const element = await shown(file);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    expect(found(element, "svg.icon")).not.toBeNull();
    expect(file.opened).toEqual([]);
  });

  test("where there is no room for letters, texts have their icon", async () => {
    const file = given("words", "text/plain", "a.txt");
    const element = await shown(file, [40, 40]);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    expect(found(element, "svg.icon")).not.toBeNull();
    expect(file.opened).toEqual([]);
  });

  test.each([
    ["is no image", given("nothing", "image/png", "broken.png")],
    ["is no PDF", given("nothing", "application/pdf", "broken.pdf")],
    [
      "cannot be read",
      { artifact: { id: "x", mime_type: "text/plain" }, bytes: { open: () => Promise.reject(new Error("/home/ada")) } },
    ],
    ["is gone", { artifact: { id: "y", mime_type: "text/plain" }, bytes: { open: () => Promise.resolve(null) } }],
  ])("what %s keeps its icon", async (_, file) => {
    const element = await shown(file);
    await new Promise((resolve) => void setTimeout(resolve, 500));
    expect(found(element, "svg.icon")).not.toBeNull();
  });
});

describe("when it is drawn", () => {
  test("only in view: a thousand cost what is seen of them", async () => {
    const box = document.createElement("div");
    Object.assign(box.style, { blockSize: "200px", overflow: "auto" });
    document.body.append(box);
    const files = Array.from({ length: 1_000 }, (_, at) => given(`file ${at}`, "text/plain", `${at}.txt`));
    const elements = files.map(({ artifact, bytes }) => {
      const element = Object.assign(new SluiceThumbnail(), { artifact, bytes });
      Object.assign(element.style, { display: "block", inlineSize: "200px", blockSize: "100px" });
      return element;
    });
    box.append(...elements);
    await part(elements[0]!, "pre");
    const read = (): number => files.filter(({ opened }) => opened.length > 0).length;
    expect(read()).toBeLessThan(20);
    expect(files[500]?.opened).toEqual([]);
    box.scrollTop = 50_000;
    await part(elements[500]!, "pre");
    // What left the view is let go.
    await eventually(() => expect(found(elements[0]!, "pre")).toBeNull());
    expect(read()).toBeLessThan(40);
  });

  test("once for the same bytes, however often they are shown", async () => {
    const file = given(await png(800, 600), "image/png", "same.png", { sha256: "a".repeat(64) });
    const elements = await Promise.all([shown(file), shown(file), shown(file)]);
    for (const element of elements) await part(element, "canvas");
    expect(file.opened).toHaveLength(1);
  });

  test("anew for another artifact, and not for the same one in other objects", async () => {
    const [one, other] = [given("one", "text/plain", "a.txt"), given("other", "text/plain", "a.txt")];
    const element = await shown(one);
    expect((await part(element, "pre")).textContent).toBe("one");
    Object.assign(element, { artifact: { ...one.artifact }, bytes: { ...one.bytes } });
    await element.updateComplete;
    expect(one.opened).toHaveLength(1);
    Object.assign(element, other);
    await eventually(() => expect(found(element, "pre")?.textContent).toBe("other"));
  });

  test("and no longer, once it is gone", async () => {
    const isOver = vi.fn<() => void>();
    const endless = new ReadableStream<Uint8Array>({ cancel: isOver });
    const open = vi.fn<ArtifactBytes["open"]>().mockResolvedValue(endless);
    const element = await shown({ artifact: { id: "endless", mime_type: "text/plain" }, bytes: { open } });
    await eventually(() => expect(open).toHaveBeenCalledOnce());
    element.remove();
    await eventually(() => expect(isOver).toHaveBeenCalledOnce());
  });
});

test("it is decorative: axe finds nothing, and nothing is told", async () => {
  for (const file of [given("a,b\n1,2\n", "text/csv", "a.csv"), given(await png(9, 9), "image/png", "a.png")]) {
    const element = await shown(file);
    await part(element, "table, canvas");
    expect(await violations(element)).toEqual([]);
    expect(found(element, "[aria-hidden=true]")?.childElementCount).toBe(1);
  }
});

test("nothing in it needs inline styles", async () => {
  const refused = await refusedBy(async () => {
    await part(await shown(given("a,b\n1,2\n", "text/csv", "a.csv")), "table");
  });
  expect(refused).toEqual([]);
});
