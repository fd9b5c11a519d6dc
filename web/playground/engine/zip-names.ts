/**
 * Names of files in an archive.
 * @module
 */
import { safeFilename } from "mcp-sluice/browser";
import type { StoredArtifact } from "mcp-sluice";

/** One name for each file, none twice and none that leaves the folder it is unpacked to. */
export function distinctNames(files: readonly StoredArtifact[]): readonly string[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const name = safeFilename(file);
    const [, stem = name, extension = ""] = /^(.+?)(\.[^.]{1,16})?$/s.exec(name) ?? [];
    let distinct = name;
    for (let number = 2; taken.has(distinct.toLowerCase()); number += 1) distinct = `${stem} (${number})${extension}`;
    taken.add(distinct.toLowerCase());
    return distinct;
  });
}
