/**
 * `sluice sniff`: says what kind of file some bytes are.
 *
 * The operands and options are in `commands/commands.ts`.
 * @module
 */
import { MemoryArtifactStore } from "../artifacts/memory.js";
import type { Sluice, Sniffed } from "../core/types.js";
import type { Invocation } from "./command.js";
import { CommandError, Exit } from "./exit.js";
import { openInput, type Input } from "./terminal/input.js";
import { openSluice } from "./transform.js";
import { printJson } from "./terminal/json.js";
import { printable, type Terminal } from "./terminal/terminal.js";

type Finding = Sniffed & { readonly file: string };

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const sluice = await openSluice(new MemoryArtifactStore(), undefined);
  const findings: Finding[] = [];
  let exit: number = Exit.ok;
  for (const file of invocation.operands.length === 0 ? ["-"] : invocation.operands) {
    try {
      const finding = await look(sluice, await openInput(file, terminal));
      findings.push(finding);
      if (!invocation.has("json")) await terminal.output.write(`${sentence(finding)}\n`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      exit = error.exit;
      await terminal.errors.write(`sluice: ${error.message}\n`);
    }
  }
  if (invocation.has("json")) await printJson(findings.map(inOrder), terminal.output);
  return exit;
}

async function look(sluice: Sluice, { name, chunks }: Input): Promise<Finding> {
  using file = await sluice.look();
  for await (const chunk of chunks) file.push(chunk);
  return { file: name, ...(await file.finish()) };
}

function sentence({ file, description, mime_type }: Finding): string {
  return `${printable(file)}: ${printable(description)} (${mime_type})`;
}

function inOrder({ file, mime_type, extension, description }: Finding): Finding {
  return { file, mime_type, extension, description };
}
