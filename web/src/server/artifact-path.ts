/**
 * Which artifact a path asks for.
 * @module
 */
import { isArtifactId } from "../artifacts/ids.js";

/** What is asked for below a folder of artifacts. */
export interface AskedArtifact {
  /** In the form of an id; whether there is one is the store's to say. */
  readonly id: string;
  /** The bytes themselves, or what is said of them. */
  readonly part: "bytes" | "meta";
}

/** The folder that artifacts are below. */
export const ARTIFACTS = "artifacts/";
const META = "/meta";
/** Longer than any id with `/meta`. */
const MAX_REST = 256;

/**
 * Reads `{base}artifacts/{id}` and `{base}artifacts/{id}/meta`.
 *
 * Nothing is decoded: ids are made of characters that need no encoding, so what has a `%` in it is none.
 *
 * @param base a path that begins and ends with `/`
 * @param folder what stands in the place of `artifacts/`; ends with `/`
 * @returns null for what is not below `{base}artifacts/`, "unknown" for what is and cannot be an artifact.
 */
export function askedArtifact(
  pathname: string,
  base: string,
  folder: string = ARTIFACTS,
): AskedArtifact | "unknown" | null {
  if (!pathname.startsWith(base + folder)) return null;
  const rest = pathname.slice(base.length + folder.length);
  if (rest.length > MAX_REST) return "unknown";
  const isMeta = rest.endsWith(META);
  const id = isMeta ? rest.slice(0, -META.length) : rest;
  return isArtifactId(id) ? { id, part: isMeta ? "meta" : "bytes" } : "unknown";
}
