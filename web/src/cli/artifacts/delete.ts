/**
 * `sluice artifacts delete`
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { Invocation } from "../commands.js";
import { Exit } from "../exit.js";
import { artifactId, locateAll } from "../locate.js";
import { parseScope } from "../scope.js";
import { openKeptStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";

export async function run(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = await openKeptStore(invocation.value("store"));
  const outcomes: { id: string; deleted: boolean }[] = [];
  for (const word of invocation.operands) {
    const id = artifactId(word);
    outcomes.push({ id, deleted: await deleteAll(store, id, scope) });
  }
  if (invocation.has("json")) await output.write(`${JSON.stringify(outcomes, null, 2)}\n`);
  for (const { id, deleted } of outcomes) {
    if (!deleted) await errors.write(`sluice: the store has no artifact ${printable(id)}\n`);
  }
  return outcomes.every(({ deleted }) => deleted) ? Exit.ok : Exit.failure;
}

/** Whether there was anything to delete. */
async function deleteAll(store: ArtifactStore, id: string, scope: ArtifactScope | undefined): Promise<boolean> {
  let deleted = false;
  for (const ref of await locateAll(store, id, scope)) {
    if (await store.delete(ref.id, ref.scope)) deleted = true;
  }
  // A damaged ref is in no list, but can be deleted by its id.
  return deleted || store.delete(id, scope);
}
