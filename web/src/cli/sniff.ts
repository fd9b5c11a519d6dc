/**
 * `sluice sniff`: what kind of file some bytes are.
 * @module
 */
import { MemoryArtifactStore } from "../artifacts/memory.js";
import type { Sluice, Sniffed } from "../core/sluice.js";
import type { Invocation } from "./commands.js";
import { CommandError, Exit } from "./exit.js";
import { openInput, type Input } from "./input.js";
import { openSluice } from "./library.js";
import type { Terminal } from "./terminal.js";
import { printable } from "./words.js";

/** Bytes of a file that are looked at. */
const HEAD = 65_536;

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
  if (invocation.has("json")) await terminal.output.write(`${JSON.stringify(findings.map(inOrder), null, 2)}\n`);
  return exit;
}

async function look(sluice: Sluice, { name, size, chunks }: Input): Promise<Finding> {
  const head = new Uint8Array(HEAD);
  let seen = 0;
  for await (const chunk of chunks) {
    if (seen < HEAD) head.set(chunk.subarray(0, HEAD - seen), seen);
    seen += chunk.length;
    // A pipe tells its size only by being read to its end.
    if (size !== undefined && seen >= HEAD) break;
  }
  const sniffed = sluice.sniff(head.subarray(0, Math.min(seen, HEAD)), size ?? seen);
  return { file: name, ...sniffed };
}

function sentence({ file, description, mime_type }: Finding): string {
  return `${printable(file)}: ${printable(description)} (${mime_type})`;
}

function inOrder({ file, mime_type, extension, description }: Finding): Finding {
  return { file, mime_type, extension, description };
}
