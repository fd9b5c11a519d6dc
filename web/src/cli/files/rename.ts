/**
 * `sluice files rename`
 * @module
 */
import { Exit } from "../exit.js";
import type { Invocation } from "../spec.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";
import { openFiles } from "./open-files.js";

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const files = await openFiles(invocation);
  const [name = "", to = ""] = invocation.operands;
  const file = await files.rename(name, to);
  await output.write(invocation.has("json") ? `${JSON.stringify(file, null, 2)}\n` : `${printable(file.name)}\n`);
  return Exit.ok;
}
