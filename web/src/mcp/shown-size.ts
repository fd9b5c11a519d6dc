/**
 * How much of a result a host shows its model, as text, with Sluice and without: what was saved is the difference. Hosts cut long
 * results too, and pictures that a model sees are no text.
 * @module
 */
import type { AnswerRef, Transformed } from "../core/types.js";
import { plainType } from "../core/media-type.js";
import { objectOr, stringOr } from "../jsonrpc/rpc.js";
import type { HostProfile } from "./host-profiles.js";

/** Bytes of text that a host would have shown of a result, and those that it shows of what is left of it. */
export function measureShown(
  { artifacts, bytesIn, bytesOut, value, refs = "" }: Transformed,
  host: HostProfile,
): { readonly before: number; readonly now: number } {
  const media = artifacts.reduce((sum, ref) => sum + (isMedia(ref, host) ? countBase64(ref.size_bytes) : 0), 0);
  const before = cutText(Math.max(0, bytesIn - media), host);
  return { before, now: Math.min(before, Math.max(0, bytesOut - refs.length - countMedia(value))) };
}

function cutText(bytes: number, { wholeText, cutText: cut }: HostProfile): number {
  return bytes <= wholeText ? bytes : Math.min(bytes, cut);
}

/** Whether a host shows an artifact other than as text. */
function isMedia({ mime_type }: AnswerRef, { images, blobs }: HostProfile): boolean {
  const type = plainType(mime_type) ?? "";
  return type.startsWith("image/") ? images : blobs.includes(type);
}

/** Characters of bytes in base64. */
function countBase64(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Characters of base64 in the blocks of a result. */
function countMedia(value: unknown): number {
  const { content } = objectOr(value);
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, block) => {
    const { data, resource } = objectOr(block);
    return sum + (stringOr(data) ?? stringOr(objectOr(resource)["blob"]) ?? "").length;
  }, 0);
}
