/**
 * `sluice artifacts gc`
 * @module
 */
import type { Invocation } from "../commands.js";
import { Exit } from "../exit.js";
import { openKeptStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { counted, humanSize } from "../words.js";

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const removed = await (await openKeptStore(invocation.value("store"))).gc();
  if (invocation.has("json")) await output.write(`${JSON.stringify(removed)}\n`);
  else
    await output.write(
      `removed ${counted(removed.blobs, "blob")} of ${humanSize(removed.bytes)} and ${counted(removed.temporaries, "leftover")}\n`,
    );
  return Exit.ok;
}
