/**
 * Draws thumbnails from as few bytes as will do: a picture whole, a PDF by ranges, of anything else the first KB. A few at a time, and
 * each once: what was drawn is kept for the next thumbnail of the same bytes.
 * @module
 */
import { plainLines, plainText } from "../plain-text.js";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { makeAddress, readText } from "../viewer/artifact-reader.js";
import { findKind } from "../viewer/kinds.js";
import { findMediaType, type PreviewInput } from "../viewer/preview.js";

/** What is shown of an artifact. */
export type Drawing =
  | { readonly kind: "picture"; readonly picture: ImageBitmap; readonly isPage: boolean }
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] };

/** What to draw. */
export interface DrawingRequest {
  readonly artifact: ShownArtifact;
  readonly bytes: ArtifactBytes;
  /** CSS pixels of the thumbnail. */
  readonly width: number;
  readonly height: number;
  /** Whether there is room for letters. */
  readonly isLegible: boolean;
}

/** Bytes of a picture or PDF; larger ones keep their icon. */
const MOST_BYTES = 16 * 1024 ** 2;
const MOST_PDF = 64 * 1024 ** 2;
const MOST_SVG = 512 * 1024;
/** Pixels of a picture. Decoding takes four bytes each, whatever the size of the thumbnail. */
const MOST_PIXELS = 40_000_000;
/** Bytes of a text, and its lines and columns that are shown. */
const [HEAD, LINES, COLUMNS] = [4096, 16, 120];
/** Rows and columns of a table, and characters of a cell. */
const [ROWS, CELLS, CELL] = [7, 6, 40];
/** Milliseconds for one drawing; a PDF may wait for a worker to start. */
const [PATIENCE, PDF_PATIENCE] = [10_000, 30_000];
/** Sizes in which pictures are kept, in device pixels. */
const EDGES = [128, 512, 1024, 2048] as const;

/** Draws one artifact; undefined if its icon says all there is to see. Throws what reading and drawing throw, and the reason of the signal. */
export async function drawArtifact(request: DrawingRequest, signal: AbortSignal): Promise<Drawing | undefined> {
  const { artifact, isLegible } = request;
  const type = findMediaType(artifact.mime_type, artifact.filename ?? "");
  const kind = findKind(type, artifact.viewer);
  const isPdf = kind.name === "PDF";
  if (!isPdf && kind.name !== "images" && !(kind.text && isLegible)) return undefined;
  const side = Math.max(request.width, request.height) * devicePixelRatio;
  // Opening a PDF takes longer than drawing it: once is enough for a list and for a card. Pages are hardly wider than A4 is long.
  const least = isPdf ? Math.max(EDGES[1], Math.min(side, 1.5 * request.height * devicePixelRatio)) : side;
  const edge = EDGES.find((each) => each >= least) ?? EDGES[3];
  const { sha256 } = artifact;
  const key = typeof sha256 === "string" && sha256 !== "" ? `${sha256} ${type}` : undefined;
  return kept.get(key, edge, signal, () =>
    (isPdf ? heavy : light).run(signal, () => drawInTime(request, edge, kind.name, type, signal)),
  );
}

// What takes too long has an icon. What fails throws, so that it is not kept: the bytes may be there when it is seen again.
async function drawInTime(
  { artifact, bytes }: DrawingRequest,
  edge: number,
  kind: string,
  type: string,
  signal: AbortSignal,
): Promise<Drawing | undefined> {
  const input: PreviewInput = { artifact, bytes, name: "", type, whole: false, progress: () => {} };
  // Aborted at its end too, so that what it opened is released.
  const run = new AbortController();
  const end = (): void => run.abort();
  signal.addEventListener("abort", end, { once: true });
  const clock = setTimeout(end, kind === "PDF" ? PDF_PATIENCE : PATIENCE);
  try {
    const given = new Promise<undefined>((resolve) =>
      run.signal.addEventListener("abort", () => resolve(undefined), { once: true }),
    );
    return await Promise.race([given, drawingFor(kind, input, edge, run.signal)]);
  } finally {
    clearTimeout(clock);
    signal.removeEventListener("abort", end);
    end();
  }
}

async function drawingFor(
  kind: string,
  input: PreviewInput,
  edge: number,
  signal: AbortSignal,
): Promise<Drawing | undefined> {
  const size = input.artifact.size_bytes ?? 0;
  switch (kind) {
    case "images":
      return size > MOST_BYTES ? undefined : drawImage(input, edge, signal);
    case "PDF": {
      if (size > MOST_PDF) return undefined;
      const { firstPage } = await import("./first-page.js");
      const picture = await firstPage(input, edge, signal);
      return picture && { kind: "picture", picture, isPage: true };
    }
    case "tables":
    case "JSON": {
      const text = await readHead(input, signal);
      const rows = kind === "JSON" ? await objectRows(text, input.type) : await csvRows(text);
      return rows === undefined ? drawLines(text) : { kind: "table", rows };
    }
    default:
      return drawLines(await readHead(input, signal));
  }
}

async function drawImage(input: PreviewInput, edge: number, signal: AbortSignal): Promise<Drawing | undefined> {
  // An SVG is only ever an image element, where its scripts and links do nothing. It has any size.
  if (input.type.includes("svg")) {
    if ((input.artifact.size_bytes ?? 0) > MOST_SVG) return undefined;
    return { kind: "address", address: await makeAddress(input, signal) };
  }
  const image = new Image();
  image.src = await makeAddress(input, signal);
  await new Promise((resolve, reject) => {
    image.addEventListener("load", resolve, { once: true });
    image.addEventListener("error", reject, { once: true });
    signal.addEventListener("abort", reject, { once: true });
  });
  const { naturalWidth: width, naturalHeight: height } = image;
  if (width === 0 || width * height > MOST_PIXELS) return undefined;
  // Decoded once, and kept small.
  const scale = Math.min(1, edge / Math.max(width, height));
  const picture = await createImageBitmap(image, {
    resizeWidth: Math.max(1, Math.round(width * scale)),
    resizeHeight: Math.max(1, Math.round(height * scale)),
    resizeQuality: "high",
  });
  image.src = "";
  return { kind: "picture", picture, isPage: false };
}

/** The beginning of a text. */
async function readHead(input: PreviewInput, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of readText(input, HEAD, signal)) text += piece;
  return text;
}

function drawLines(text: string): Drawing | undefined {
  const lines = plainLines(text).split(/\r\n?|\n/, LINES);
  const seen = lines.map((line) => line.slice(0, COLUMNS)).join("\n");
  return seen.trim() === "" ? undefined : { kind: "text", text: seen };
}

async function csvRows(text: string): Promise<string[][] | undefined> {
  const { default: papa } = await import("papaparse");
  const { data } = papa.parse<string[]>(text, { preview: ROWS + 1, skipEmptyLines: true });
  const rows = data.map(cutCells);
  return rows.length < 2 ? undefined : rows;
}

/** The rows of an array or of lines of objects; undefined for other JSON. */
async function objectRows(text: string, type: string): Promise<string[][] | undefined> {
  const areLines = !type.endsWith("json") || type.endsWith("ndjson");
  if (!areLines && !/^\s*\[\s*\{/.test(text)) return undefined;
  const { Elements } = await import("../viewer/json.js");
  const sources = areLines ? text.split("\n") : new Elements().push(text);
  const objects = sources.slice(0, ROWS).map(parseObject);
  const [first] = objects;
  if (first === undefined) return undefined;
  const columns = Object.keys(first);
  return [columns, ...objects.map((object) => columns.map((column) => toWords(object?.[column])))].map(cutCells);
}

function parseObject(source: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(source);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toWords(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function cutCells(cells: readonly string[]): string[] {
  return cells.slice(0, CELLS).map((cell) => plainText(cell, CELL));
}

/** Work of which only some is under way. */
class Queue {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs when it is its turn. Throws the reason of the signal if it was aborted. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** PDFs take a worker each. */
const heavy = new Queue(1);
const light = new Queue(4);

interface Kept {
  readonly edge: number;
  readonly drawing: Drawing | undefined;
}

/** Drawings by what they show, the ones that were seen last. */
class Drawings {
  readonly #most: number;
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The drawing that is kept if it is large enough, else a new one. */
  async get(
    key: string | undefined,
    edge: number,
    signal: AbortSignal,
    draw: () => Promise<Drawing | undefined>,
  ): Promise<Drawing | undefined> {
    if (key === undefined) return draw();
    for (;;) {
      const known = this.#kept.get(key);
      if (known !== undefined && known.edge >= edge) {
        this.#keep(key, known);
        return known.drawing;
      }
      const running = this.#underWay.get(key);
      if (running === undefined) break;
      await running.catch(() => {});
      signal.throwIfAborted();
    }
    const drawing = draw();
    this.#underWay.set(key, drawing);
    try {
      const result = await drawing;
      // One that was given up says nothing about the next.
      if (!signal.aborted) this.#keep(key, { edge, drawing: result });
      return result;
    } finally {
      this.#underWay.delete(key);
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** How many drawings are kept: a megabyte each at most, but for the few that are seen at large. */
const kept = new Drawings(50);
