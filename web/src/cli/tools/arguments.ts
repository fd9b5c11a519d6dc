/**
 * `--args`: what a tool is called with.
 * @module
 */
import { UsageError } from "../exit.js";
import { openInput } from "../input.js";
import { placeOf } from "../json-place.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../words.js";

/** Bytes that are read at most; what is larger no server takes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A tool's arguments, by name. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * Reads the value of `--args`: a JSON object as it is, `@FILE`, or `-` for standard input.
 *
 * @throws UsageError where it is no JSON object, or too large; CommandError 66 where it cannot be read.
 */
export async function readArguments(
  written: string | undefined,
  terminal: Terminal,
  command: string,
): Promise<ToolArguments> {
  if (written === undefined) return {};
  const file = written === "-" ? written : written.startsWith("@") ? written.slice(1) : undefined;
  if (file === "") throw new UsageError("--args @FILE needs the name of a file", command);
  const text = file === undefined ? written : await readText(file, terminal, command);
  const where = file === undefined ? "--args" : file === "-" ? "standard input" : printable(file);
  return objectIn(text, where, command);
}

async function readText(file: string, terminal: Terminal, command: string): Promise<string> {
  const { chunks } = await openInput(file, terminal);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new UsageError(`--args takes ${MAX_BYTES / 1024 / 1024} MiB at most`, command);
    // A chunk of a file is valid only until the next one.
    parts.push(Uint8Array.from(chunk));
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

function objectIn(text: string, where: string, command: string): ToolArguments {
  const example = `--args '{"path": "a.png"}'`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = text.trim() === "" ? "is empty" : `is not JSON${placeOf(error, text)}`;
    throw new UsageError(`${where} ${what}; arguments are an object, for instance ${example}`, command);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as ToolArguments;
  throw new UsageError(`${where} holds no JSON object; arguments are one, for instance ${example}`, command);
}
