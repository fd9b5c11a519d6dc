/**
 * Shows an image, or one page of a PDF, as an image block.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import type { PictureFacts } from "../../documents/conversion.js";
import { fitsModels, readImageFile, SCALED_SIDE } from "../../documents/image-file.js";
import { type DocumentKind, findTraits } from "../../documents/kind.js";
import { SluiceError } from "../../errors/error.js";
import { encodeBase64, joinBytes } from "../../artifacts/bytes.js";
import type { AnswerParts } from "./answer.js";
import { describe } from "./definition.js";
import { convertArtifact, formFor } from "./forms.js";
import type { Wanted } from "./request.js";
import { readFacts, readSpan, type Readable, nameSubject } from "./source.js";

/** Bytes of an image that is shown. */
const MAX_BYTES = 1024 * 1024;

/** Types that hosts pass on as they are. */
const SHOWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];

type WantedPicture = Pick<Extract<Wanted, { mode: "image" }>, "page" | "region">;

/** Answers with a picture, if the client shows images. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, E_STORE_…. */
export async function tellPicture(
  from: Readable,
  kind: DocumentKind | undefined,
  { page, region }: WantedPicture,
): Promise<AnswerParts> {
  if (kind !== "image" && kind !== "pdf") {
    throw new SluiceError("E_INVALID_ARGUMENT", explainNoPicture(from, kind), { path: "as" });
  }
  const about = `${nameSubject(from)}: ${kind === "pdf" ? `page ${page}` : describe(from.ref)}`;
  if (from.showsImages !== true) {
    const instead = kind === "pdf" ? await nameOtherWay(from, page) : "Pass the URI to a tool that takes images.";
    return { head: about, notes: [`This client is not known to show images to its model. ${instead}`] };
  }
  const { size_bytes: size, mime_type } = from.ref;
  const type = plainType(mime_type) ?? "";
  let maxSide: number | null = SCALED_SIDE;
  if (kind === "image" && size <= MAX_BYTES && SHOWN.includes(type)) {
    const bytes = await readSpan(from, { start: 0, end: size });
    // What its bytes are, whatever is said of it: a model that is given another type refuses the whole conversation.
    const file = await readImageFile(bytes);
    if (file === undefined) {
      throw new SluiceError(
        "E_DOCUMENT",
        "The image cannot be decoded: it is damaged, or of a kind that is not shown.",
      );
    }
    const fits = fitsModels(file);
    if (fits && region === undefined)
      return { head: about, image: { type: file.mime_type, data: encodeBase64(bytes) } };
    if (fits) maxSide = null;
  }
  const pieces: Uint8Array[] = [];
  const part = region && { region: { ...region, maxSide } };
  const limits = { maxSide: SCALED_SIDE, maxBytes: MAX_BYTES, ...part };
  const request = { kind, form: "picture", page, limits } as const;
  const facts = await convertArtifact(
    from,
    findTraits(kind).name,
    request,
    async (chunk) => void pieces.push(chunk.slice()),
  );
  const { mime_type: shown, width, height } = facts as PictureFacts;
  const which = region === undefined ? "" : `, region "${region.x},${region.y},${region.width},${region.height}"`;
  return {
    head: `${about}${which}, as ${width} × ${height} pixels`,
    ...(region === undefined && { notes: ['Look closer with region "x,y,w,h", in these pixels.'] }),
    image: { type: shown, data: encodeBase64(joinBytes(pieces)) },
  };
}

/** How a page is read by a model that sees no pictures: not by its text, where it has none. */
async function nameOtherWay(from: Readable, page: number): Promise<string> {
  const { withoutText = [] } = readFacts(await formFor(from, "pdf", { mode: "info" }, {})) ?? {};
  return withoutText.some(([first, last]) => page >= first && page <= last)
    ? `Page ${page} has no text: pass the URI to a tool that reads scans, or tell the user.`
    : `Read its text with pages "${page}".`;
}

/** Why something cannot be shown, and what can be done. */
function explainNoPicture({ ref }: Readable, kind: DocumentKind | undefined): string {
  const type = plainType(ref.mime_type) ?? "";
  if (type === "image/svg+xml")
    return "An SVG is text, and is not drawn here: read it with lines or search, or pass the URI to a tool that draws it.";
  if (kind === undefined && type.startsWith("image/"))
    return `Images of the type ${type} are not decoded here: pass the URI to a tool that converts it, or ask for PNG or JPEG.`;
  return `The ${kind === undefined ? "artifact" : findTraits(kind).name} cannot be shown as an image: images and pages of PDF can.`;
}
