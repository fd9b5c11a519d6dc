/**
 * Headers of what is served: its type, its name, and what keeps it from being more than it is. What a server called its bytes, or a
 * file, is not to be trusted.
 * @module
 */
import { EXTENSIONS } from "../../core/media-types.mjs";
import type { ArtifactRef, StoredArtifact } from "../../artifacts/store.js";

/**
 * What holds for every answer, whatever its type (but see {@link PLAYED}): a document made of it has an origin of its own, runs no script and asks
 * nobody for anything; no other origin embeds it; its address, in which a session's key may be, is told to nobody.
 */
export const SAFETY: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * For sound and film, the one kind of document that sandboxes break: it asks for its own address once more, as an origin
 * of its own would not be allowed to. It runs no script either, and `nosniff` lets it be nothing else.
 */
const PLAYED = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

/** The strong entity tag: what has the same SHA-256 is the same, byte for byte. */
export function entityTag({ sha256 }: Pick<StoredArtifact, "sha256">): string {
  return `"${sha256}"`;
}

/**
 * What is said of an artifact's bytes, except how many there are.
 *
 * A copy may be kept, but asks before each use (`no-cache`, which the entity tag makes cheap): an artifact may have been
 * deleted or renamed since, or its session have ended.
 */
export function artifactHeaders(artifact: StoredArtifact, disposition: Disposition): Record<string, string> {
  const type = servedType(artifact.mime_type);
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

/** What nobody said anything of. */
export const UNKNOWN_TYPE = "application/octet-stream";

const PLAIN = "text/plain";
const MAX_TYPE = 255;
// RFC 6838 §4.2, which is stricter than the tokens of RFC 9110.
const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const ESSENCE = new RegExp(`^(${NAME}/${NAME})[ \\t]*(?:;|$)`);

/**
 * What a page of the same origin would run or apply if it were named in a script, a worker or a style sheet. As plain
 * text with `nosniff` it is none, even where a policy says `script-src 'self'`.
 */
const ACTIVE =
  /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript|css|cache-manifest))$/;

/** The part of a media type before its parameters, in lower case; null for what is no media type. */
export function essenceOf(mimeType: string | null): string | null {
  if (mimeType === null || mimeType.length > MAX_TYPE) return null;
  return ESSENCE.exec(mimeType.trim().toLowerCase())?.[1] ?? null;
}

/**
 * The value of `Content-Type`. Parameters that were declared are dropped: a charset among them was true of what the server
 * read, while texts are stored as UTF-8.
 */
export function servedType(mimeType: string | null): string {
  const essence = essenceOf(mimeType);
  // Parts of a multipart type would be types of their own.
  if (essence === null || essence.startsWith("multipart/")) return UNKNOWN_TYPE;
  const type = ACTIVE.test(essence) ? PLAIN : essence;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

/** Whether a browser shows the bytes or saves them. */
type Disposition = "inline" | "attachment";

/**
 * The value of the header for a name that {@link safeFilename} gave. A name beyond ASCII is written twice: as RFC 8187
 * says, and once more with `_` in place of what old readers do not know.
 */
export function contentDisposition(disposition: Disposition, filename: string): string {
  const plain = asciiOf(filename);
  const first = `${disposition}; filename="${plain}"`;
  return plain === filename ? first : `${first}; filename*=UTF-8''${extendedValue(filename)}`;
}

/**
 * Letters lose their accents, anything else beyond ASCII becomes `_`; so does what taking accents away may have laid bare
 * (`≮` is a `<` with one), and `%`, which some readers decode (RFC 6266, appendix D).
 */
function asciiOf(filename: string): string {
  const bare = filename.normalize("NFD").replace(/\p{M}/gu, "");
  return bare.replace(/[^ -~]|[%/\\:*?"<>|]/gu, "_");
}

/** RFC 8187 §3.2.1 allows fewer characters than URIs do. Lone halves of pairs were taken out before. */
function extendedValue(filename: string): string {
  return encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Most bytes of a name in UTF-8: file systems take 255, and browsers add ` (1)` or `.part`. */
const MAX_BYTES = 200;
/** Of a name that is longer, no more is looked at. */
const MAX_READ = 4096;

/** Control and format characters (bidi, zero-width, tags), private ones, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** What parts a path, or means something to Windows. */
const RESERVED = /[/\\:*?"<>|]/g;
/** Ways up and from the root. */
const CLIMB = /^(?:\.{0,2}[/\\])+/;
/** Dots and blanks in front hide a file; behind, Windows drops them. */
const EDGES = /^[. ]+|[. ]+$/g;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))/i;
/** At least one letter, so that `v1.5` has none. */
const EXTENSION = /\.(?=[0-9]*[a-z])[a-z0-9]{1,10}$/i;

/**
 * A name that is safe to save under on any system and to show on one line: no path, no control or bidi characters, no
 * device of Windows, at most 200 bytes. A name without extension gets that of its type; without a name it is the id.
 *
 * @example
 * safeFilename({ id: "web_0123456789ab", filename: "../Q3 report", mime_type: "application/pdf" }); // "Q3 report.pdf"
 */
export function safeFilename(artifact: Pick<ArtifactRef, "id"> & Partial<ArtifactRef>): string {
  const { id, filename, mime_type } = artifact;
  const name = cleaned(filename ?? "") || cleaned(id) || "artifact";
  const given = EXTENSION.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - given.length);
  const extension = given || extensionOf(mime_type ?? null);
  const short = withinBytes(stem, MAX_BYTES - extension.length).replace(EDGES, "") || "artifact";
  return `${DEVICE.test(short) ? "_" : ""}${short}${extension}`;
}

function cleaned(name: string): string {
  const seen = name
    .slice(0, MAX_READ)
    .replace(UNSEEN, "")
    .normalize("NFC")
    .replace(/\p{Zs}+/gu, " ");
  return seen.replace(CLIMB, "").replace(RESERVED, "_").replace(EDGES, "");
}

/** With its dot; empty for a type without one. */
function extensionOf(mimeType: string | null): string {
  const essence = essenceOf(mimeType) ?? "application/octet-stream";
  const known = Object.hasOwn(EXTENSIONS, essence) ? EXTENSIONS[essence] : undefined;
  if (known !== undefined) return `.${known}`;
  if (essence.endsWith("+json")) return ".json";
  if (essence.endsWith("+xml")) return ".xml";
  return essence.startsWith("text/") ? ".txt" : ".bin";
}

/** As many whole characters as fit. */
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
