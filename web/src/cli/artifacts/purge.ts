/**
 * `sluice artifacts purge`
 * @module
 */
import { createInterface } from "node:readline/promises";
import type { ArtifactStore } from "../../artifacts/store.js";
import type { Invocation } from "../commands.js";
import { Exit, UsageError } from "../exit.js";
import { openKeptStore, storeFolder } from "../store.js";
import type { Terminal } from "../terminal.js";
import { counted, humanSize } from "../../core/amounts.js";
import { printable } from "../words.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const folder = storeFolder(invocation.value("store"));
  const store = await openKeptStore(invocation.value("store"));
  if (!invocation.has("yes") && !(await agreed(store, folder, terminal))) return Exit.failure;
  await store.purge();
  if (invocation.has("json")) await terminal.output.write(`${JSON.stringify({ store: folder, purged: true })}\n`);
  return Exit.ok;
}

async function agreed(store: ArtifactStore, folder: string, { input, errors, signal }: Terminal): Promise<boolean> {
  if (input.isTTY !== true || !errors.isTerminal) {
    throw new UsageError("purge deletes every artifact and nobody is there to be asked; give --yes", "artifacts purge");
  }
  let artifacts = 0;
  let bytes = 0;
  for await (const { size_bytes } of store.list()) {
    artifacts += 1;
    bytes += size_bytes;
  }
  const what = `${counted(artifacts, "artifact")} of ${humanSize(bytes)}`;
  const question = createInterface({ input, output: process.stderr });
  try {
    const answer = await question.question(`Delete ${what} in ${printable(folder)}? [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    question.close();
  }
}
