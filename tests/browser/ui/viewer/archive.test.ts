/** `<sluice-viewer>`: archives as lists of files, each of which can be opened. */
import { downloadZip } from "client-zip";
import { packTar } from "modern-tar";
import { describe, expect, test } from "vitest";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { eventually, refusedBy, violations } from "../support.js";
import { buttonOf, type Given, given, notice, part, png, saying, settled, viewing } from "./fixtures.js";

type Files = Readonly<Record<string, string | Blob>>;

const FILES: Files = {
  "README.md": "# Read me\n",
  "src/index.ts": "export const a = 1;\n",
  "src/app/LICENSE": "Do what you like.\n",
  "data/orders.csv": "id,amount\n1,2\n",
  "data/raw": "\0\u0001\u0002",
};

async function zip(files: Files = FILES): Promise<Blob> {
  const entries = Object.entries(files).map(([name, input]) => ({ name, input, lastModified: new Date(2026, 0, 3) }));
  return downloadZip(entries).blob();
}

async function tar(files: Files = FILES): Promise<Blob> {
  const entries = Object.entries(files).map(([name, body]) => {
    const size = new Blob([body]).size;
    return { header: { name, size, type: "file" as const, mtime: new Date(Date.UTC(2026, 0, 3)) }, body };
  });
  return new Blob([await packTar(entries)]);
}

async function gzip(blob: Blob): Promise<Blob> {
  return new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}

function rows(viewer: SluiceViewer): readonly (readonly string[])[] {
  const lines = [...viewer.renderRoot.querySelectorAll(".rows .record")];
  return lines.map((line) => [...line.children].slice(1).map((cell) => cell.textContent));
}

async function shown(file: Given): Promise<SluiceViewer> {
  const viewer = await viewing(file);
  await settled(viewer);
  return viewer;
}

/** The viewer of the file that is open within one. */
async function opened(viewer: SluiceViewer, name: string): Promise<SluiceViewer> {
  await eventually(() => buttonOf(viewer, name));
  buttonOf(viewer, name).click();
  const inner = await part<SluiceViewer>(viewer, "sluice-viewer");
  await settled(inner);
  return inner;
}

describe.each([
  ["ZIP", "application/zip", "a.zip", zip],
  ["tar", "application/x-tar", "a.tar", tar],
  ["tar in gzip", "application/gzip", "a.tgz", async () => gzip(await tar())],
  ["archive that only its name tells of", "application/octet-stream", "a.tar.gz", async () => gzip(await tar())],
] as const)("a %s", (_, type, name, make) => {
  test("is a list of its files", async () => {
    const viewer = await shown(given(await make(), type, name));
    await eventually(() => expect(rows(viewer)).toHaveLength(5));
    expect(rows(viewer).map((row) => row.slice(0, 3))).toEqual([
      ["README.md", "", "10 B"],
      ["index.ts", "src", "20 B"],
      ["LICENSE", "src/app", "18 B"],
      ["orders.csv", "data", "14 B"],
      ["raw", "data", "3 B"],
    ]);
    expect(rows(viewer)[0]?.[3]).toMatch(/^2026-01-03 /);
    expect(viewer.renderRoot.querySelector(".bar [role=status]")?.textContent).toBe(
      "5 files in 3 folders, 65 B unpacked",
    );
    expect(await violations(viewer)).toEqual([]);
  });

  test("opens its files as what they are, and comes back to the list", async () => {
    const viewer = await shown(given(await make(), type, name));
    const table = await opened(viewer, "orders.csv");
    await eventually(() => expect(table.renderRoot.querySelectorAll(".rows .record")).toHaveLength(1));
    expect(await violations(viewer)).toEqual([]);
    buttonOf(viewer, "All files").click();
    expect(viewer.renderRoot.querySelector("sluice-viewer")).toBeNull();
    const focused = (viewer.renderRoot as ShadowRoot).activeElement;
    expect(focused?.matches(".opener, .table")).toBe(true);
    const text = await opened(viewer, "LICENSE");
    await eventually(() => expect(text.renderRoot.querySelector(".written")?.textContent).toBe("Do what you like."));
    buttonOf(viewer, "All files").click();
    const bytes = await opened(viewer, "raw");
    await part(bytes, ".hex");
  });
});

test("a text whose name is that of bytes is a text", async () => {
  const viewer = await shown(
    given(await zip({ "server.key": "-----BEGIN PRIVATE KEY-----" }), "application/zip", "a.zip"),
  );
  const text = await opened(viewer, "server.key");
  await eventually(() => expect(text.renderRoot.querySelector(".written")?.textContent).toMatch(/^-----BEGIN/));
});

test("a file of it can be downloaded, byte for byte", async () => {
  const picture = await png(40, 20);
  const viewer = await shown(given(await zip({ "a/picture.png": picture }), "application/zip", "a.zip"));
  const inner = await opened(viewer, "picture.png");
  await part(inner, "img");
  const stream = await inner.bytes?.open();
  expect(await new Response(stream).bytes()).toEqual(await picture.bytes());
  expect(buttonOf(inner, "Download")).toBeDefined();
  expect(inner.artifact).toMatchObject({ filename: "picture.png", size_bytes: picture.size });
});

test("an archive within one is a list again", async () => {
  const viewer = await shown(given(await zip({ "inner.zip": await zip() }), "application/zip", "outer.zip"));
  const inner = await opened(viewer, "inner.zip");
  await eventually(() => expect(rows(inner)).toHaveLength(5));
});

test("the one file of a gzip is opened too", async () => {
  const viewer = await shown(given(await gzip(new Blob(["a,b\n1,2\n"])), "application/gzip", "orders.csv.gz"));
  const inner = await opened(viewer, "orders.csv");
  expect((await part(inner, "[role=table]")).ariaLabel).toBe("Table of orders.csv");
});

test("many files are few nodes, and are sorted by size", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 3000 }, (_, at) => [`logs/${at}.log`, "x".repeat((at * 7) % 3000)]),
  );
  const viewer = await shown(given(await zip(files), "application/zip", "logs.zip"));
  expect(viewer.renderRoot.querySelector("[role=table]")?.getAttribute("aria-rowcount")).toBe("3001");
  expect(viewer.renderRoot.querySelectorAll("*").length).toBeLessThan(1000);
  buttonOf(viewer, "Size").click();
  buttonOf(viewer, "Size").click();
  await eventually(() => expect(rows(viewer)[0]?.slice(0, 3)).toEqual(["857.log", "logs", "2.9 KB"]));
});

test("names that lead out, or are no text, are names", async () => {
  const files = { "../../etc/passwd": "x", "photo\u202egpj.exe": "y", "<img src=x onerror=alert(1)>": "z" };
  const viewer = await shown(given(await tar(files), "application/x-tar", "a.tar"));
  await eventually(() => expect(rows(viewer)).toHaveLength(3));
  expect(rows(viewer).map(([name, folder]) => [name, folder])).toEqual([
    ["passwd", "../../etc"],
    ["photo\ufffdgpj.exe", ""],
    ["<img src=x onerror=alert(1)>", ""],
  ]);
});

describe("a sentence stands in the place of", () => {
  test("what is no archive", async () => {
    const viewer = await viewing(given("no archive at all", "application/zip", "a.zip"));
    await saying(viewer, /cannot be read/);
    expect(notice(viewer)).toBe(
      "This archive cannot be read: it is damaged, or of a kind that is not known here. Show source",
    );
  });

  test("an archive that is cut", async () => {
    const whole = await zip();
    const viewer = await viewing(given(whole.slice(0, whole.size - 40), "application/zip", "a.zip"));
    await saying(viewer, /cannot be read/);
    expect(viewer.renderRoot.querySelector(".table")).toBeNull();
  });

  test("what follows where a tar is damaged", async () => {
    const whole = await gzip(await tar({ ...FILES, "noise.bin": noise(200_000) }));
    const viewer = await shown(given(whole.slice(0, whole.size - 50_000), "application/gzip", "a.tgz"));
    expect(notice(viewer)).toBe("The archive is damaged: what follows the files below cannot be read.");
    await eventually(() => expect(rows(viewer).length).toBeGreaterThan(3));
  });

  test("a file that is encrypted", async () => {
    const bytes = await (await zip({ "secret.txt": "x" })).bytes();
    const view = new DataView(bytes.buffer);
    // Of the file and of the directory: bit 0 of the flags (APPNOTE 4.4.4).
    view.setUint16(6, view.getUint16(6, true) | 1, true);
    const directory = lastIndexOf(bytes, [0x50, 0x4b, 1, 2]);
    view.setUint16(directory + 8, view.getUint16(directory + 8, true) | 1, true);
    const viewer = await shown(given(bytes, "application/zip", "a.zip"));
    await eventually(() => buttonOf(viewer, "secret.txt"));
    buttonOf(viewer, "secret.txt").click();
    expect((await part(viewer, ".entry [role=alert]")).textContent).toContain("protected by a password");
    expect(buttonOf(viewer, "All files")).toBeDefined();
  });

  test("a file that is damaged", async () => {
    const bytes = await (await zip({ "a.txt": "some text of a file" })).bytes();
    const at = lastIndexOf(bytes, [...new TextEncoder().encode("some text")]);
    bytes[at] = 0;
    const viewer = await shown(given(bytes, "application/zip", "a.zip"));
    await eventually(() => buttonOf(viewer, "a.txt"));
    buttonOf(viewer, "a.txt").click();
    expect((await part(viewer, ".entry [role=alert]")).textContent).toContain("damaged");
  });

  test("a file that unpacks to more than may be held", { timeout: 120_000 }, async () => {
    const zeros = new Blob(Array.from({ length: 101 }, () => new Uint8Array(1024 ** 2)));
    const viewer = await shown(given(await gzip(zeros), "application/gzip", "bomb.gz"));
    await eventually(() => buttonOf(viewer, "bomb"));
    buttonOf(viewer, "bomb").click();
    expect((await part(viewer, ".entry [role=alert]")).textContent).toBe(
      "It is too large to be opened here. Download the archive instead.",
    );
  });

  test("an empty archive", async () => {
    const viewer = await shown(given(await zip({}), "application/zip", "a.zip"));
    expect(notice(viewer)).toBe("This archive has no files.");
  });
});

test("nothing of it is refused by a strict policy", async () => {
  const viewer = await shown(given(await zip(), "application/zip", "a.zip"));
  const refused = await refusedBy(async () => {
    await opened(viewer, "orders.csv");
  });
  expect(refused).toEqual([]);
});

function lastIndexOf(bytes: Uint8Array, mark: readonly number[]): number {
  for (let at = bytes.length - mark.length; at >= 0; at -= 1)
    if (mark.every((byte, i) => bytes[at + i] === byte)) return at;
  throw new Error("The mark is not there.");
}

/** Bytes that do not become fewer when they are packed. */
function noise(length: number): Blob {
  const words = new Uint32Array(length / 4);
  let seed = 1;
  for (let at = 0; at < words.length; at += 1) words[at] = seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return new Blob([words]);
}
