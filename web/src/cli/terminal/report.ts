/**
 * Reports errors on standard error, one sentence each.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { CommandError, UsageError } from "../exit.js";
import { storeFolder } from "../store/folders.js";
import { clause, fileName, printable, type Output } from "./terminal.js";

/** Reports an error. Adds the help to read for an invalid command line, and the store's folder for a store's error. */
export async function report(error: unknown, errors: Output, store: string | undefined): Promise<void> {
  await say(clause(writeSentence(error)), errors);
  if (error instanceof UsageError) {
    const command = ["sluice", error.command, "--help"].filter((word) => word !== "").join(" ");
    await errors.write(`Try: ${command}\n`);
  }
  if (isOfStore(error)) await nameStore(errors, store);
}

function writeSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // Messages of commands name the file they could not open. Those of Node name paths of the installation.
  if (error instanceof CommandError || (error instanceof SluiceError && error.code !== "E_CORE_LOAD")) return message;
  const code = systemCode(error) ?? (error instanceof Error ? systemCode(error.cause) : undefined);
  if (code === "EMFILE" || code === "ENFILE") return "too many files are open; raise the limit (ulimit -n)";
  // Node reports a package.json that it cannot open as missing.
  if (code !== "ERR_MODULE_NOT_FOUND") return message;
  return "a part of Sluice cannot be loaded; if too many files are open, raise the limit (ulimit -n), otherwise reinstall mcp-sluice";
}

/** Reports failures of the store for a result that was printed all the same. `line` is the line of the input. */
export async function reportFailures(failures: readonly SluiceError[], errors: Output, line?: number): Promise<void> {
  for (const { message } of failures) {
    await say(line === undefined ? clause(message) : `line ${line}: ${clause(message)}`, errors);
  }
}

/** Reports what is wrong with an input, besides the error that is printed in place of its result. */
export async function reportInput(name: string, error: SluiceError, isEmpty: boolean, errors: Output): Promise<void> {
  const { code, line = 1, column = 1, message, path } = error;
  const input = name === "-" ? "the input" : fileName(name);
  const place = path === undefined ? input : `${input}, ${path}`;
  if (!code.startsWith("E_JSON_")) return say(`${place}: ${clause(message)}`, errors);
  if (isEmpty) return say(`${input} is empty`, errors);
  const hint = line === 1 && column === 1 ? "; `sluice sniff` shows what it is" : "";
  await say(`${input} is not JSON: line ${line}, column ${column}: ${message}${hint}`, errors);
}

/** Names the store's folder. */
export async function nameStore(errors: Output, store: string | undefined): Promise<void> {
  await errors.write(`The store is ${printable(storeFolder(store))}\n`);
}

async function say(message: string, errors: Output): Promise<void> {
  await errors.write(`sluice: ${message.split("\n").map(printable).join("\n")}\n`);
}

function isOfStore(error: unknown): boolean {
  return error instanceof SluiceError && (error.code.startsWith("E_STORE_") || error.code === "E_NOT_FOUND");
}
