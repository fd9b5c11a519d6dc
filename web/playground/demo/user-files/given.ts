/**
 * Files as tools in a page are given them: data URIs.
 * @module
 */

/** A file that a tool was given. */
export interface GivenFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** What a data URI holds, and undefined for what is none: a name that nobody put a file in the place of. */
export function givenFile(uri: string): GivenFile | undefined {
  const [, type, base64] = /^data:([\w.+/-]+);base64,([\w+/]*={0,2})$/.exec(uri) ?? [];
  if (type === undefined || base64 === undefined) return undefined;
  return { type, bytes: Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) };
}

/** The bytes as a text; undefined where they are none. */
export function textIn({ bytes }: GivenFile): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
