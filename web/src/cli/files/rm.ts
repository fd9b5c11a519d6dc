/**
 * `sluice files rm`
 * @module
 */
import { Exit } from "../exit.js";
import type { Invocation } from "../spec.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";
import { openFiles } from "./open-files.js";

export async function run(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const files = await openFiles(invocation);
  const outcomes: { name: string; removed: boolean }[] = [];
  for (const name of invocation.operands) outcomes.push({ name, removed: await files.remove(name) });
  if (invocation.has("json")) await output.write(`${JSON.stringify(outcomes, null, 2)}\n`);
  for (const { name, removed } of outcomes) {
    if (!removed) await errors.write(`sluice: there is no file ${printable(JSON.stringify(name))}\n`);
  }
  return outcomes.every(({ removed }) => removed) ? Exit.ok : Exit.failure;
}
