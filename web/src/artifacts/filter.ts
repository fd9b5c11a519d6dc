/**
 * Which artifacts of a list are wanted.
 * @module
 */
import { wrong } from "../errors/arguments.js";
import { objectOf } from "./bytes.js";
import type { ArtifactFilter, ArtifactRef } from "./store.js";

/** The filter as it is. Throws SluiceError E_INVALID_ARGUMENT for what is none. */
export function filterOf(only: ArtifactFilter | undefined): ArtifactFilter {
  const { filename } = objectOf(only ?? {}, "only");
  if (filename !== undefined && typeof filename !== "string") throw wrong("only.filename", "a string");
  return filename === undefined ? {} : { filename };
}

/** Whether an artifact is one of them. */
export function isWanted({ filename }: Pick<ArtifactRef, "filename">, only: ArtifactFilter | undefined): boolean {
  return only?.filename === undefined || only.filename === filename;
}
