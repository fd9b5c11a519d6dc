/**
 * Previews of archives: their files as a table, each of which can be opened.
 * @module
 */
import { humanSize, SluiceError } from "mcp-sluice";
// It is loaded with this preview alone, and of that entry nothing else is.
// oxlint-disable-next-line no-restricted-imports
import { archiveEntries, type ArchiveSource, extractEntry } from "mcp-sluice/files";
import { BlobParts } from "../download.js";
import { Pace } from "../pace.js";
import { toSafeName } from "../plain-text.js";
import { bytesAt, wholeBlob } from "./artifact-reader.js";
import { findKind } from "./kinds.js";
import {
  button,
  type Drawn,
  element,
  findMediaType,
  makeGoneProblem,
  type PreviewInput,
  PreviewProblem,
  WHOLE_LIMIT,
} from "./preview.js";
import { Table } from "./table.js";
import { TableView } from "./table-view.js";

const COLUMNS = ["Name", "Folder", "Size", "Changed"];
const SIZE = COLUMNS.indexOf("Size");
/** Files between two looks at the clock. */
const STEP = 64;
/** Bytes of a file that is opened. */
const MOST_OPENED = 100 * 1024 ** 2;
/** Characters of a path. */
const LONGEST = 1000;

/** Draws the list of files. Opening one puts a viewer in its place. */
export async function renderArchive(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const source = await openSource(input, signal);
  const files = new ArchiveFiles();
  const list = element("div", "list");
  host.append(list);
  const openings = new Openings(host, list, input, source, signal);
  const view = new TableView(
    list,
    files.table,
    {
      label: `Files in ${input.name}`,
      summary: () => files.summary,
      open: (index) => openings.open(files.paths[index] ?? ""),
      shown: (column, text) => (column === SIZE && text !== "" ? humanSize(Number(text)) : text),
    },
    signal,
  );
  const pace = new Pace();
  let problem: unknown;
  try {
    for await (const entry of archiveEntries(source, signal)) {
      files.add(entry);
      if (files.paths.length % STEP !== 0) continue;
      view.update(false);
      await pace.rest();
    }
  } catch (error) {
    problem = error;
  }
  signal.throwIfAborted();
  view.update(true);
  if (problem === undefined) return files.paths.length === 0 ? { note: "This archive has no files." } : {};
  if (files.paths.length === 0) throw unreadable(problem);
  return { note: rest(problem, files.paths.length) };
}

function unreadable(cause: unknown): unknown {
  if (!(cause instanceof SluiceError)) return cause;
  if (cause.code !== "E_DOCUMENT") return cause;
  const sentence = "This archive cannot be read: it is damaged, or of a kind that is not known here.";
  return new PreviewProblem(sentence, "source", { cause });
}

/** What is missing below a list. */
function rest(cause: unknown, count: number): string {
  if (cause instanceof SluiceError && cause.code === "E_TOO_LARGE") {
    return `The archive is too large to be listed whole: the first ${count.toLocaleString("en")} files are shown.`;
  }
  return "The archive is damaged: what follows the files below cannot be read.";
}

async function openSource(input: PreviewInput, signal: AbortSignal): Promise<ArchiveSource> {
  const { size_bytes: size, filename } = input.artifact;
  const named = { filename: filename ?? "" };
  if (size === undefined) {
    const blob = await wholeBlob(input, WHOLE_LIMIT, "", signal);
    return {
      ...named,
      size: blob.size,
      read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
      stream: async (start, end) => blob.slice(start, end).stream(),
    };
  }
  return {
    ...named,
    size,
    read: (start, end) => bytesAt(input, start, end, signal),
    stream: async (start, end) => {
      const stream = await input.bytes.open({ start, end });
      if (stream === null) throw makeGoneProblem();
      let read = 0;
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          read += chunk.byteLength;
          input.progress(read, size);
          controller.enqueue(chunk);
        },
      });
      // Ended with the preview, however much is still to be unpacked.
      return stream.pipeThrough(counter, { signal });
    },
  };
}

/** The files found so far, as rows. */
class ArchiveFiles {
  readonly table = new Table();
  /** As the archive says, one for each row. */
  readonly paths: string[] = [];
  readonly #folders = new Set<string>();
  #bytes = 0;
  #isSized = true;

  constructor() {
    for (const name of COLUMNS) this.table.column(name);
  }

  add({ name, size, modified }: { name: string; size: number | undefined; modified: string | undefined }): void {
    const path = toSafeName(name, "Unnamed", LONGEST);
    const at = path.lastIndexOf("/");
    const folder = at === -1 ? "" : path.slice(0, at);
    if (folder !== "") this.#folders.add(folder);
    this.#bytes += size ?? 0;
    if (size === undefined) this.#isSized = false;
    this.paths.push(name);
    this.table.add([path.slice(at + 1) || path, folder, size?.toString() ?? "", modified?.replace("T", " ") ?? ""]);
  }

  get summary(): string {
    const folders = this.#folders.size === 0 ? "" : ` in ${countNoun(this.#folders.size, "folder")}`;
    const size = this.#isSized && this.paths.length > 0 ? `, ${humanSize(this.#bytes)} unpacked` : "";
    return `${countNoun(this.paths.length, "file")}${folders}${size}`;
  }
}

function countNoun(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** The file that is open in the place of the list. */
class Openings {
  readonly #host: HTMLElement;
  readonly #list: HTMLElement;
  readonly #input: PreviewInput;
  readonly #source: ArchiveSource;
  readonly #signal: AbortSignal;
  #run: AbortController | undefined;
  #place: HTMLElement | undefined;

  constructor(host: HTMLElement, list: HTMLElement, input: PreviewInput, source: ArchiveSource, signal: AbortSignal) {
    this.#host = host;
    this.#list = list;
    this.#input = input;
    this.#source = source;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#run?.abort(), { once: true });
  }

  /** Takes a file out and shows it. */
  open(path: string): void {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    const opener = (this.#list.getRootNode() as Document | ShadowRoot).activeElement;
    const back = button("All files", () => this.#close(opener), this.#signal);
    const said = element("span", "soft path", { role: "status" }, `Reading ${toSafeName(path, "Unnamed")}…`);
    const label = { "aria-label": toSafeName(path, "Unnamed", LONGEST) };
    const place = element("section", "entry", label, element("div", "bar", {}, back, said));
    this.#place?.remove();
    this.#place = place;
    this.#list.hidden = true;
    this.#host.append(place);
    back.focus();
    void this.#fill(place, said, path, run.signal);
  }

  async #fill(place: HTMLElement, said: HTMLElement, path: string, signal: AbortSignal): Promise<void> {
    let content: HTMLElement;
    try {
      content = await this.#take(path, signal);
    } catch (error) {
      content = element("p", "notice problem", { role: "alert" }, describeError(error));
    }
    if (signal.aborted) return;
    said.textContent = toSafeName(path, "Unnamed", LONGEST);
    said.title = said.textContent;
    place.append(content);
  }

  #close(opener: Element | null): void {
    this.#run?.abort();
    this.#place?.remove();
    this.#place = undefined;
    this.#list.hidden = false;
    const isThere = opener instanceof HTMLElement && this.#list.contains(opener);
    (isThere ? opener : this.#list.querySelector<HTMLElement>(".table"))?.focus();
  }

  async #take(path: string, signal: AbortSignal): Promise<HTMLElement> {
    const parts = new BlobParts();
    const pace = new Pace();
    const write = async (chunk: Uint8Array): Promise<void> => {
      // It belongs to the archive, which may use it again.
      parts.add(chunk.slice());
      await pace.rest();
      signal.throwIfAborted();
    };
    const { entry } = await extractEntry(this.#source, path, write, { maxBytes: MOST_OPENED, signal });
    signal.throwIfAborted();
    if (entry === undefined) throw makeGoneProblem();
    const blob = parts.blob("");
    const filename = path.slice(path.lastIndexOf("/") + 1);
    const viewer = document.createElement("sluice-viewer");
    viewer.artifact = {
      id: path,
      filename,
      mime_type: (await isText(filename, blob)) ? "text/plain" : null,
      size_bytes: blob.size,
      source: { description: `From ${this.#input.name}` },
    };
    viewer.bytes = { open: async (range) => blob.slice(range?.start ?? 0, range?.end).stream() };
    return viewer;
  }
}

/** Bytes that are looked at to tell a text. */
const HEAD = 4096;

/** Whether a file is a text, by its bytes, that has no preview by its name. */
async function isText(filename: string, blob: Blob): Promise<boolean> {
  if (findKind(findMediaType(null, filename)).name !== "bytes") return false;
  const head = new Uint8Array(await blob.slice(0, HEAD).arrayBuffer());
  try {
    // A character may be cut at the end.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return head.length > 0 && !head.includes(0);
  } catch {
    return false;
  }
}

function describeError(error: unknown): string {
  if (error instanceof SluiceError && error.code === "E_TOO_LARGE") {
    return "It is too large to be opened here. Download the archive instead.";
  }
  return error instanceof SluiceError || error instanceof PreviewProblem ? error.message : "It could not be read.";
}
