/**
 * `sluice store copy`: moves a store, or both stores of a server, to another place.
 * @module
 */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { copyStore, type CopyFault, type CopyFaultKind, type CopyReport } from "../../artifacts/copy.js";
import { FolderRecords } from "../../artifacts/file/folder-records.js";
import { orNull } from "../../artifacts/file/plain-file.js";
import type { RecordStore } from "../../artifacts/record-store.js";
import { countNoun, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import type { Invocation } from "../command.js";
import { CommandError, Exit, toExitCode, UsageError } from "../exit.js";
import { printJson } from "../terminal/json.js";
import { Progress } from "../terminal/progress.js";
import { clause, printable, type Output, type Terminal } from "../terminal/terminal.js";
import { scopeText } from "./scope.js";

/** What was copied of one store: the only one of its place, or one of a server's two. */
interface StoreCopy extends CopyReport {
  readonly store: string | null;
}

/** The stores that a place may have: its own, and those of `sluice serve`. */
const STORES = [null, "sessions", "files"] as const;
type StoreName = (typeof STORES)[number];

export async function copy(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const [from = "", to = ""] = invocation.operands;
  const [source, target] = [parsePlace(from, "SOURCE"), parsePlace(to, "TARGET")];
  await checkApart(source, target);
  const progress = new Progress(errors, "copying");
  const isDryRun = invocation.has("dry-run");
  const copies: StoreCopy[] = [];
  try {
    for (const store of STORES) {
      await using sourceStore = await source.open(store);
      if (!(await isStore(sourceStore, "source"))) continue;
      await using targetStore = await target.open(store);
      const onProgress = (bytes: number): Promise<void> => progress.add(bytes);
      copies.push({ store, ...(await copyStore(sourceStore, targetStore, { isDryRun, onProgress })) });
    }
  } catch (error) {
    throw toStoppedError(error);
  } finally {
    await progress.done();
  }
  if (copies.length === 0) throw nothing();
  if (invocation.has("json")) await printJson({ stores: copies }, output);
  else for (const each of copies) await printCopy(each, isDryRun, output);
  const isWhole = copies.every(({ is_settled, faults }) => (is_settled || isDryRun) && faults.length === 0);
  return isWhole ? Exit.ok : Exit.failure;
}

async function isStore(store: RecordStore, path: string): Promise<boolean> {
  try {
    return await store.isThere();
  } catch (error) {
    throw error instanceof SluiceError ? new SluiceError(error.code, error.message, { path }, { cause: error }) : error;
  }
}

/** Where stores are. */
interface Place {
  open(store: StoreName): Promise<RecordStore>;
  /** The folder. Undefined for a bucket. */
  readonly folder?: string;
  /** The bucket's URL, ending with `/`. Undefined for a folder. */
  readonly url?: string;
}

function parsePlace(word: string, operand: string): Place {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(word)) {
    const folder = resolve(word);
    return { folder, open: async (store) => new FolderRecords(store === null ? folder : join(folder, store)) };
  }
  const url = /^s3:\/\//i.test(word) ? `s3://${word.slice(5).replace(/\/+$/, "")}/` : null;
  if (url === null) throw unfit(operand);
  const open = async (store: StoreName): Promise<RecordStore> => {
    const { BucketRecords, optionsFrom } = await import("../../artifacts/s3/bucket-records.js");
    try {
      return new BucketRecords(optionsFrom(`${url}${store ?? ""}`));
    } catch (error) {
      if (error instanceof SluiceError && error.code === "E_INVALID_ARGUMENT") throw unfit(operand);
      throw error;
    }
  };
  return { url, open };
}

function unfit(operand: string): UsageError {
  const sentence = `${operand} must be a folder, s3://bucket or s3://bucket/prefix; a bucket has at least 3 characters, a prefix letters, digits, -, _ and .`;
  return new UsageError(sentence, "store copy");
}

/** Throws UsageError if one place is the other, or lies in it. */
async function checkApart(source: Place, target: Place): Promise<void> {
  const [from, to] = await Promise.all([findAddress(source), findAddress(target)]);
  if (from.address === to.address || (from.file !== undefined && from.file === to.file)) {
    throw new UsageError("SOURCE and TARGET are the same place: name another TARGET", "store copy");
  }
  if (to.address.startsWith(from.address)) {
    throw new UsageError("TARGET lies inside SOURCE: name a place outside of it", "store copy");
  }
  if (from.address.startsWith(to.address)) {
    throw new UsageError("SOURCE lies inside TARGET: name a place outside of it", "store copy");
  }
}

/** A place as a text that begins with those of all places around it, and its file's number if it has one. */
async function findAddress({ folder, url = "" }: Place): Promise<{ readonly address: string; readonly file?: string }> {
  if (folder === undefined) return { address: url };
  const found = await orNull(stat(folder, { bigint: true })).catch(() => null);
  const real = await realFolder(folder);
  const address = real.endsWith(sep) ? real : `${real}${sep}`;
  return { address, ...(found && { file: `${found.dev} ${found.ino}` }) };
}

/** The path without links, also of a folder that does not exist yet. */
async function realFolder(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => null);
  if (real !== null || dirname(folder) === folder) return real ?? folder;
  return join(await realFolder(dirname(folder)), basename(folder));
}

function nothing(): CommandError {
  const sentence =
    "there is no store at SOURCE, nor a server's stores below it (sessions, files): check the path or the address";
  return new CommandError(Exit.failure, sentence);
}

/** An error of one of the stores, which says that the copy can go on. */
function toStoppedError(error: unknown): unknown {
  if (!(error instanceof SluiceError) || (error.path !== "source" && error.path !== "target")) return error;
  const exit = toExitCode(error, error.path === "target");
  const sentence = `the copy stopped at its ${error.path}: ${clause(error.message).replace(/\.$/, "")}; what was copied stays, so run the same command again to go on`;
  return new CommandError(exit, sentence, { cause: error });
}

/** What is wrong, and the remedy. */
const SENTENCES: Readonly<Record<CopyFaultKind, string>> = {
  content: "its bytes in SOURCE are damaged: `sluice store check --repair` may put them right; else delete it",
  record: "its record in SOURCE cannot be read: `sluice store check --repair` may put it right; else delete it",
  conflict: "TARGET has another artifact or record with its id, which this copy did not bring: delete it there",
};

async function printCopy(copied: StoreCopy, isDryRun: boolean, output: Output): Promise<void> {
  const { store, artifacts, copied_bytes, passes, is_settled, faults } = copied;
  for (const fault of faults) await output.write(`${formatFault(fault)}\n`);
  const name = store === null ? "" : `${store}: `;
  const done = `${copied.copied} copied (${humanSize(copied_bytes)}), ${copied.updated} updated, ${copied.removed} removed`;
  const end = faults.length === 0 ? "" : `, ${faults.length} left out`;
  const line = `${name}${countNoun(artifacts, "artifact")}: ${isDryRun ? "to do: " : ""}${done}${end}`;
  const after = isDryRun ? "" : ` in ${passes} ${passes === 1 ? "pass" : "passes"}`;
  await output.write(output.isTerminal ? output.dim(`${line}${after}\n`) : `${line}${after}\n`);
  if (is_settled || isDryRun) return;
  await output.write(`${name}SOURCE kept changing: copy once more when whatever writes to it has stopped\n`);
}

function formatFault({ kind, id, scope }: CopyFault): string {
  const whose = scope === null ? "" : scopeText(scope);
  const what = id === null ? "an artifact" : `${printable(id)}${whose === "" ? "" : ` (${printable(whose)})`}`;
  return `${what}: ${SENTENCES[kind]}`;
}
