/**
 * Headers of served bytes: type, name and safety. Declared types and names are not trusted.
 * @module
 */
import { EXTENSIONS } from "../../core/extensions.mjs";
import type { ArtifactRef, StoredArtifact } from "../../artifacts/store.js";
import { parseEssence, SAFETY, UNKNOWN_TYPE } from "../http/headers.js";

/**
 * Unlike {@link SAFETY}, for audio and video, which do not work in a sandbox: the document requests its own address again, which another
 * origin must not. It runs no script either, and `nosniff` lets it be nothing else.
 */
const PLAYED = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

/** The strong entity tag, made of the SHA-256. */
export function entityTag({ sha256 }: Pick<StoredArtifact, "sha256">): string {
  return `"${sha256}"`;
}

/**
 * The headers of an artifact's bytes, without the length. Copies have to be revalidated before each use (`no-cache`),
 * which the entity tag makes cheap: the artifact may have been deleted or renamed, or its session ended.
 */
export function artifactHeaders(artifact: StoredArtifact, disposition: Disposition): Record<string, string> {
  const type = chooseType(artifact.mime_type);
  return {
    ...SAFETY,
    ...(/^(?:audio|video)\//.test(type) && { "Content-Security-Policy": PLAYED }),
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Disposition": contentDisposition(disposition, safeFilename(artifact)),
    "Content-Type": type,
    ETag: entityTag(artifact),
  };
}

const PLAIN = "text/plain";
/**
 * What a page of the same origin could run or apply in a script, a worker or a style sheet. Served as plain text with
 * `nosniff` it cannot, even if a policy says `script-src 'self'`.
 */
const ACTIVE =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript|css|cache-manifest))$/;

/**
 * The value of `Content-Type`. Declared parameters are dropped: a charset described what the server read, while texts
 * are stored as UTF-8.
 */
export function chooseType(mimeType: string | null): string {
  const essence = parseEssence(mimeType);
  // The parts of a multipart type would have types of their own.
  if (essence === null || essence.startsWith("multipart/")) return UNKNOWN_TYPE;
  const type = ACTIVE.test(essence) ? PLAIN : essence;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

/** Whether a browser shows the bytes or saves them. */
type Disposition = "inline" | "attachment";

/**
 * The value of `Content-Disposition`, for a name from {@link safeFilename}. A name beyond ASCII is written twice: per
 * RFC 8187, and with `_` for older readers.
 */
export function contentDisposition(disposition: Disposition, filename: string): string {
  const plain = toAscii(filename);
  const first = `${disposition}; filename="${plain}"`;
  return plain === filename ? first : `${first}; filename*=UTF-8''${encodeExtended(filename)}`;
}

/**
 * The name in ASCII: accents are removed, and anything else becomes `_`. So do reserved characters that were accented
 * (`≮` is a `<` with an accent), and `%`, which some readers decode (RFC 6266, appendix D).
 */
function toAscii(filename: string): string {
  const bare = filename.normalize("NFD").replace(/\p{M}/gu, "");
  return bare.replace(/[^ -~]|[%/\\:*?"<>|]/gu, "_");
}

/** RFC 8187 §3.2.1 allows fewer characters than URIs do. Lone surrogates were removed before. */
function encodeExtended(filename: string): string {
  return encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Most bytes of a name in UTF-8: file systems take 255, and browsers add ` (1)` or `.part`. */
const MAX_BYTES = 200;
/** A longer name is cut before anything else. */
const MAX_READ = 4096;

/** Control, format (bidi, zero-width, tags) and private characters, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Path separators, and characters with a meaning on Windows. */
const RESERVED = /[/\\:*?"<>|]/g;
/** Leading `/`, `./` and `../`. */
const CLIMB = /^(?:\.{0,2}[/\\])+/;
/** Leading dots hide a file. Windows drops trailing ones. */
const EDGES = /^[. ]+|[. ]+$/g;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))/i;
/** At least one letter, so that `v1.5` has none. */
const EXTENSION = /\.(?=[0-9]*[a-z])[a-z0-9]{1,10}$/i;

/**
 * A name that is safe to save on any system and to show on one line: no path, no control or bidi characters, no
 * Windows device name, at most 200 bytes. A missing extension is added by the type. Without a name it is the id.
 *
 * @example
 * safeFilename({ id: "web_0123456789ab", filename: "../Q3 report", mime_type: "application/pdf" }); // "Q3 report.pdf"
 */
export function safeFilename(artifact: Pick<ArtifactRef, "id"> & Partial<ArtifactRef>): string {
  const { id, filename, mime_type } = artifact;
  const name = cleanName(filename ?? "") || cleanName(id) || "artifact";
  const given = EXTENSION.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - given.length);
  const extension = given || findExtension(mime_type ?? null);
  const short = withinBytes(stem, MAX_BYTES - extension.length).replace(EDGES, "") || "artifact";
  return `${DEVICE.test(short) ? "_" : ""}${short}${extension}`;
}

function cleanName(name: string): string {
  const seen = name
    .slice(0, MAX_READ)
    .replace(UNSEEN, "")
    .normalize("NFC")
    .replace(/\p{Zs}+/gu, " ");
  return seen.replace(CLIMB, "").replace(RESERVED, "_").replace(EDGES, "");
}

/** With its dot; empty for a type without one. */
function findExtension(mimeType: string | null): string {
  const essence = parseEssence(mimeType) ?? "application/octet-stream";
  const known = Object.hasOwn(EXTENSIONS, essence) ? EXTENSIONS[essence] : undefined;
  if (known !== undefined) return `.${known}`;
  if (essence.endsWith("+json")) return ".json";
  if (essence.endsWith("+xml")) return ".xml";
  return essence.startsWith("text/") ? ".txt" : ".bin";
}

/** As many whole characters as fit into so many bytes of UTF-8. */
function withinBytes(text: string, most: number): string {
  let bytes = 0;
  let fitting = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
    if (bytes > most) break;
    fitting += character;
  }
  return fitting;
}
