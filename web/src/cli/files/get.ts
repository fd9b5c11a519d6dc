/**
 * `sluice files get`
 * @module
 */
import { deliver } from "../deliver.js";
import { Exit } from "../exit.js";
import type { Invocation } from "../spec.js";
import type { Terminal } from "../terminal.js";
import { openFiles } from "./open-files.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const files = await openFiles(invocation);
  const name = invocation.operands[0] ?? "";
  const bytes = await files.open(name);
  const found = await files.find(name);
  const what = { name, mime_type: found?.mime_type ?? null, size: found?.size_bytes ?? 0, command: invocation.command };
  await deliver(bytes, what, invocation.value("output"), terminal);
  return Exit.ok;
}
