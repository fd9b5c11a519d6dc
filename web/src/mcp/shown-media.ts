/**
 * What a client is shown of the content that was taken out of a result: pictures that models take, scaled down where they are larger;
 * documents and sound that the client handles itself; prose that it shows whole.
 * @module
 */
import { groupDigits } from "../core/amounts.js";
import { plainType } from "../core/media-type.js";
import { Semaphore } from "../core/semaphore.js";
import type { ResultFacts, ShowContent, ShownContent, StoredContent } from "../core/types.js";
import type { PictureFacts } from "../documents/conversion.js";
import type { Picture, PictureLimits } from "../documents/picture.js";
import { encodeBase64, joinBytes } from "../artifacts/bytes.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";

/** What a client shows. */
interface ClientMedia {
  readonly images: boolean;
  readonly imagesInErrors: boolean;
  /** Media types of bytes in an embedded resource; `*` stands for all. */
  readonly blobs: readonly string[];
  readonly audio: boolean;
  /** Bytes and lines of the longest text that it shows whole. */
  readonly wholeText: number;
  readonly wholeLines: number;
}

/** Largest image that is read, in bytes. */
const MAX_IMAGE = 32 * 1024 * 1024;

/** Bytes of all media in one result. Encoded, they and what stands around them fit a message. */
const MAX_MEDIA = 5 * 1024 * 1024;

/** Milliseconds that the pictures of a result may take. A host waits for the answer. */
const MAX_WAIT = 30_000;

/** Pictures that are made at a time. */
const AT_A_TIME = 4;

/** Shows what a client shows. */
export function showTo(client: ClientMedia): ShowContent {
  return async (content, facts) => {
    const shown = new Map<StoredContent, ShownContent>();
    const put = (each: StoredContent, found: ShownContent | undefined): void => {
      if (found !== undefined) shown.set(each, found);
    };
    let left = Math.min(MAX_MEDIA, Math.floor(((MAX_MESSAGE - facts.reduced_bytes) * 5) / 8));
    for (const each of content.filter((one) => isHandedOn(one, client))) {
      if (each.size_bytes > left) continue;
      left -= each.size_bytes;
      put(each, await handOn(each));
    }
    for (const [each, picture] of await showPictures(content, client, facts, left)) put(each, picture);
    let room = client.wholeText - facts.reduced_bytes;
    for (const each of content.filter(({ kind, size_bytes }) => kind === "text" && size_bytes <= client.wholeText)) {
      if (each.size_bytes > room) continue;
      const text = await readProse(each, client.wholeLines);
      put(each, text);
      if (text !== undefined) room -= each.size_bytes;
    }
    return shown;
  };
}

/** Shows images to clients that are said to show them. */
export const showImages: ShowContent = (content, facts) => {
  const { showsImages: images } = facts;
  return showTo({ images, imagesInErrors: false, blobs: [], audio: false, wholeText: 0, wholeLines: 0 })(
    content,
    facts,
  );
};

// --- documents and sound ---------------------------------------------------------------------

function isHandedOn({ kind, mime_type }: StoredContent, { blobs, audio }: ClientMedia): boolean {
  if (kind === "audio") return audio;
  const type = plainType(mime_type) ?? "";
  return kind === "resource" && !type.startsWith("image/") && (blobs.includes("*") || blobs.includes(type));
}

async function handOn({ kind, mime_type, read }: StoredContent): Promise<ShownContent | undefined> {
  const bytes = await read(MAX_MEDIA);
  return bytes === undefined || bytes.length === 0 ? undefined : { kind, mime_type, data: encodeBase64(bytes) };
}

// --- pictures --------------------------------------------------------------------------------

function isPicture(
  { kind, mime_type, listed }: StoredContent,
  client: ClientMedia,
  { is_error }: ResultFacts,
): boolean {
  if (kind !== "image" && !(kind === "resource" && mime_type.startsWith("image/"))) return false;
  return listed || (client.images && (!is_error || client.imagesInErrors));
}

async function showPictures(
  content: readonly StoredContent[],
  client: ClientMedia,
  facts: ResultFacts,
  room: number,
): Promise<ReadonlyMap<StoredContent, ShownContent>> {
  const shown = new Map<StoredContent, ShownContent>();
  const pictures = content.filter((each) => isPicture(each, client, facts)).slice(0, facts.max_count);
  const most = Math.min(facts.max_bytes, Math.floor(room / Math.max(1, pictures.length)));
  const overdue = AbortSignal.timeout(MAX_WAIT);
  const signal = facts.signal === undefined ? overdue : AbortSignal.any([facts.signal, overdue]);
  const turns = new Semaphore(AT_A_TIME);
  const work = pictures.map((each) =>
    turns.run(async () => {
      const picture = await showPicture(each, most, { ...facts, signal });
      if (picture !== undefined) shown.set(each, picture);
    }),
  );
  await Promise.all(work);
  return shown;
}

type ScaleFacts = Pick<ResultFacts, "modules" | "signal">;

/** A picture within limits. Undefined if it is damaged, is none that models take, or cannot be made small enough. */
async function showPicture(
  { read }: StoredContent,
  most: number,
  facts: ScaleFacts,
): Promise<ShownContent | undefined> {
  const bytes = await read(MAX_IMAGE);
  if (bytes === undefined) return undefined;
  try {
    const { fitsModels, readImageFile, SCALED_SIDE } = await import("../documents/image-file.js");
    const image = await readImageFile(bytes);
    if (image === undefined) return undefined;
    const { mime_type, width, height } = image;
    if (fitsModels(image) && bytes.length <= most) {
      return { kind: "image", mime_type, data: encodeBase64(bytes) };
    }
    const isPhoto = mime_type === "image/jpeg" || (mime_type === "image/png" && fitsModels(image));
    const maxSide = fitsModels(image) ? Math.max(width, height) : SCALED_SIDE;
    const picture = await scale(bytes, { maxSide, maxBytes: most, isPhoto }, facts);
    const isSmaller = picture.width !== width && picture.height !== height;
    const note = `scaled down to ${groupDigits(picture.width)} × ${groupDigits(picture.height)} pixels here`;
    const data = encodeBase64(picture.bytes);
    return { kind: "image", mime_type: picture.mime_type, data, ...(isSmaller && { note }) };
  } catch {
    // The sentence tells of it all the same.
    return undefined;
  }
}

/** Throws E_DOCUMENT, E_TOO_LARGE, the signal's reason. */
async function scale(bytes: Uint8Array, limits: PictureLimits, { modules, signal }: ScaleFacts): Promise<Picture> {
  const [{ convertInWorker }, { inTurn }] = await Promise.all([import("#sandbox"), import("../documents/sandbox.js")]);
  const pieces: Uint8Array[] = [];
  const request = { kind: "image", form: "picture", page: 1, limits } as const;
  const write = async (chunk: Uint8Array): Promise<void> => void pieces.push(chunk.slice());
  const input = (async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  })();
  const facts = await inTurn(() => convertInWorker({ request, input, write, modules, signal }), signal);
  return { ...(facts as PictureFacts), bytes: joinBytes(pieces) };
}

// --- prose -----------------------------------------------------------------------------------

/** Characters of a line of prose or code. */
const MAX_LINE = 2000;

/** The most digits among a hundred characters: tables and logs have more. */
const MAX_DIGITS = 20;

/** A text, if a person would read it from its beginning to its end. */
async function readProse(
  { read, size_bytes, mime_type }: StoredContent,
  most: number,
): Promise<ShownContent | undefined> {
  const bytes = await read(size_bytes);
  if (bytes === undefined) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const lines = text.split("\n");
  const digits = text.length - text.replace(/\d/g, "").length;
  const isProse =
    lines.length <= most &&
    !DATA.test(text) &&
    digits * 100 <= text.length * MAX_DIGITS &&
    lines.every(({ length }) => length <= MAX_LINE) &&
    DELIMITERS.every((delimiter) => !isTable(lines, delimiter));
  return isProse ? { kind: "text", mime_type, data: text } : undefined;
}

/** How JSON and markup begin. */
const DATA = /^\s*(?:[[{]|<[!?a-z])/i;

const DELIMITERS = [",", ";", "\t", "|"];

/** Whether most lines have the same columns. In prose a space follows a comma. */
function isTable(lines: readonly string[], delimiter: string): boolean {
  const filled = lines.filter((line) => line.trim() !== "");
  const columns = (line: string): number => {
    const cells = line.split(delimiter);
    return delimiter !== "|" && cells.some((cell, at) => at > 0 && cell.startsWith(" ")) ? 1 : cells.length;
  };
  const [first = ""] = filled;
  const usual = columns(first);
  return usual > 2 && filled.filter((line) => columns(line) === usual).length * 10 > filled.length * 8;
}
