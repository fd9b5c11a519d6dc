/**
 * All refs, oldest first.
 * @module
 */
import { join } from "node:path";
import type { Folder } from "./folder.js";
import { SCOPE_NAME, scopeName } from "./layout.js";
import { readFrom, type Recorded } from "./refs.js";
import { namesIn } from "./sweep.js";

const AT_ONCE = 16;

/** The refs of the scope with this key, or of all scopes. Damaged ones and those deleted meanwhile are left out. */
export async function listRefs(folder: Folder, key: string | undefined): Promise<readonly Recorded[]> {
  const found: Recorded[] = [];
  let reading: Promise<Recorded | null>[] = [];
  const gather = async (): Promise<void> => {
    for (const recorded of await Promise.all(reading)) if (recorded) found.push(recorded);
    reading = [];
  };
  const scopes = key === undefined ? namesIn(folder.at.refs, SCOPE_NAME) : [scopeName(key)];
  for await (const scope of scopes) {
    for await (const name of namesIn(join(folder.at.refs, scope), /./)) {
      reading.push(readFrom(folder, scope, name).catch(() => null));
      if (reading.length === AT_ONCE) await gather();
    }
  }
  await gather();
  found.sort((left, right) => left.created - right.created || (left.ref.id < right.ref.id ? -1 : 1));
  return found;
}
