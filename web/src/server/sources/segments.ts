/**
 * What stands between the slashes of an address, each decoded once.
 * @module
 */
import { BodyRefused } from "../http/read-body.js";

/** UTF-16 units of an address that are looked at: more than any that leads somewhere. */
const MAX_PATH = 32_768;

/**
 * The segments behind `{base}{folder}/`. Nothing is decoded before it is taken apart: a segment may have slashes in it.
 *
 * @throws BodyRefused 400 where one is no percent-encoded UTF-8, or all are too long.
 */
export function segmentsOf(request: Request, base: string, folder: string): readonly string[] {
  const { pathname } = new URL(request.url);
  const rest = pathname.slice(base.length + folder.length + 1);
  if (rest.length > MAX_PATH) throw new BodyRefused(400, `The address is longer than ${MAX_PATH} characters.`);
  try {
    return rest.split("/").map(decodeURIComponent);
  } catch {
    throw new BodyRefused(
      400,
      "The address has a % in it that encodes no UTF-8: encode each part of it once, as a whole.",
    );
  }
}
