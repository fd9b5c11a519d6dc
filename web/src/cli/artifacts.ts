/**
 * `sluice artifacts …`: lists, reads and deletes what is in a store.
 *
 * The operands and options are in `commands/artifacts.ts`.
 * @module
 */
import { createInterface } from "node:readline/promises";
import { readRange, resolveRange, type Span, type WrittenRange } from "../artifacts/bytes.js";
import { withRetention, RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import type { SweepReport } from "../artifacts/file/sweep.js";
import type { Collected } from "../artifacts/retention/retaining-store.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { countNoun, humanSize } from "../core/amounts.js";
import { checkSections } from "../config/check.js";
import { SluiceError } from "../errors/error.js";
import type { Invocation } from "./command.js";
import { checkConfig, readConfig } from "./configuration.js";
import { deliver } from "./terminal/delivery.js";
import { CommandError, Exit, UsageError } from "./exit.js";
import { artifactId, locate, locateAll, missing, parseScope, scopeText } from "./store/scope.js";
import { openKeptStore } from "./store/store.js";
import { storeFolder } from "./store/folders.js";
import { printJson } from "./terminal/json.js";
import { printTable, joinRow, type Column } from "./terminal/table.js";
import { humanAge, printable, type Output, type Terminal } from "./terminal/terminal.js";

export async function listArtifacts(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const where = invocation.value("store");
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const isWanted = createFilter(invocation);
  const store = await openKeptStore(where);
  const refs = filterRefs(store.list(scope), isWanted);
  if (invocation.has("json")) await printRefs(refs, output);
  else if (output.isTerminal) await printList(refs, output, storeFolder(where));
  else for await (const ref of refs) await output.write(`${joinRow(plainRow(ref))}\n`);
  if (!(await store.isThere()))
    await errors.write(`sluice: nothing has been stored in ${printable(storeFolder(where))}\n`);
  return Exit.ok;
}

async function* filterRefs(
  refs: AsyncIterable<StoredArtifact>,
  isWanted: (ref: StoredArtifact) => boolean,
): AsyncGenerator<StoredArtifact> {
  for await (const ref of refs) if (isWanted(ref)) yield ref;
}

/** What `--namespace`, `--type` and `--since` let through. */
function createFilter(invocation: Invocation): (ref: StoredArtifact) => boolean {
  const namespace = invocation.value("namespace");
  const type = invocation.value("type")?.toLowerCase();
  const written = invocation.value("since");
  const since = written === undefined ? 0 : readSince(written, invocation.command);
  return (ref) =>
    (namespace === undefined || ref.namespace === namespace) &&
    (type === undefined || isOfType(ref.mime_type ?? "", type)) &&
    ref.stored_at >= since;
}

function isOfType(mimeType: string, wanted: string): boolean {
  return wanted.endsWith("/*") ? mimeType.startsWith(wanted.slice(0, -1)) : mimeType === wanted;
}

/** Milliseconds of each unit of `--since`. */
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time that `--since` names, in milliseconds since 1970. Throws UsageError. */
function readSince(written: string, command: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(written) ?? [];
  const time = count === undefined ? parseDate(written) : Date.now() - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isNaN(time)) {
    throw new UsageError(
      `--since takes a time such as 30m, 12h, 7d or 2026-01-31; got ${JSON.stringify(written)}`,
      command,
    );
  }
  return time;
}

/** NaN for anything but a date of ISO 8601. A day without a zone begins at midnight of this machine. */
function parseDate(written: string): number {
  if (!/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(written)) return Number.NaN;
  return new Date(written.includes("T") ? written : `${written}T00:00`).getTime();
}

/** Prints an array with one ref per line, as they come. */
async function printRefs(refs: AsyncIterable<ArtifactRef>, output: Output): Promise<void> {
  let before = "[\n  ";
  for await (const ref of refs) {
    await output.write(before + JSON.stringify(ref));
    before = ",\n  ";
  }
  await output.write(before.startsWith("[") ? "[]\n" : "\n]\n");
}

function plainRow({ id, mime_type, size_bytes, filename, scope }: ArtifactRef): string[] {
  return [id, mime_type ?? "", String(size_bytes), printable(filename ?? ""), printable(scopeText(scope))];
}

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "TYPE" },
  { title: "SIZE", right: true },
  { title: "AGE", right: true },
  { title: "FILE" },
  { title: "SCOPE" },
];

async function printList(refs: AsyncIterable<StoredArtifact>, output: Output, folder: string): Promise<void> {
  const rows: string[][] = [];
  let bytes = 0;
  for await (const ref of refs) {
    const [id = "", type = "", , file = "", scope = ""] = plainRow(ref);
    rows.push([id, type, humanSize(ref.size_bytes), humanAge(Date.now() - ref.stored_at), file, scope]);
    bytes += ref.size_bytes;
  }
  await printTable(COLUMNS, rows, output);
  await output.write(
    output.dim(`${countNoun(rows.length, "artifact")}, ${humanSize(bytes)} in ${printable(folder)}\n`),
  );
}

export async function getArtifact(invocation: Invocation, terminal: Terminal): Promise<number> {
  const target = invocation.value("output");
  if (invocation.has("json") && (target === undefined || target === "-")) {
    throw new UsageError(
      "get --json needs -o FILE because the bytes go to standard output; `artifacts stat --json` prints only the reference",
      invocation.command,
    );
  }
  const range = invocation.value("range");
  const wanted = range === undefined ? undefined : parseRange(range, invocation.command);
  const store = await openKeptStore(invocation.value("store"));
  const ref = await locate(store, invocation);
  const span = wanted === undefined ? undefined : toSpan(wanted, ref.size_bytes);
  const bytes = await store.openReader(ref.id, { scope: ref.scope, ...(span !== undefined && { range: span }) });
  if (bytes === null) throw new SluiceError("E_NOT_FOUND", `${ref.id} was deleted just now`);
  const what = { name: ref.id, mime_type: ref.mime_type, size: measureSpan(ref, span), command: "artifacts get" };
  await deliver(bytes, what, target, terminal);
  if (target !== undefined) await sayWhatCame(ref, span, target, invocation.has("json"), terminal);
  return Exit.ok;
}

function measureSpan(ref: ArtifactRef, span: Span | undefined): number {
  return span === undefined ? ref.size_bytes : span.end - span.start;
}

async function sayWhatCame(
  ref: ArtifactRef,
  span: Span | undefined,
  target: string,
  json: boolean,
  { output, errors }: Terminal,
): Promise<void> {
  if (json) await printJson(ref, output);
  else if (errors.isTerminal)
    await errors.write(errors.dim(`${humanSize(measureSpan(ref, span))} in ${printable(target)}\n`));
}

export async function statArtifact(invocation: Invocation, { output }: Terminal): Promise<number> {
  const store = await openKeptStore(invocation.value("store"));
  const ref = await locate(store, invocation);
  if (invocation.has("json")) await printJson(ref, output);
  else
    for (const [name, value] of facts(ref)) await output.write(`${output.dim(name.padEnd(9))} ${printable(value)}\n`);
  return Exit.ok;
}

function facts(ref: ArtifactRef): (readonly [string, string])[] {
  const all: (readonly [string, string])[] = [
    ["id", ref.id],
    ["type", ref.mime_type ?? "unknown"],
    ["size", `${humanSize(ref.size_bytes)} (${ref.size_bytes.toLocaleString("en")} bytes)`],
    ["sha256", ref.sha256],
    ["file name", ref.filename ?? ""],
    ["scope", scopeText(ref.scope)],
    ["namespace", ref.namespace],
    ["source", Object.keys(ref.source).length === 0 ? "" : JSON.stringify(ref.source)],
  ];
  return all.filter(([, value]) => value !== "");
}

export async function deleteArtifacts(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = await openKeptStore(invocation.value("store"));
  const outcomes: { id: string; deleted: boolean }[] = [];
  for (const word of invocation.operands) {
    const id = artifactId(word);
    outcomes.push({ id, deleted: await deleteAll(store, id, scope) });
  }
  if (invocation.has("json")) await printJson(outcomes, output);
  for (const { id, deleted } of outcomes) {
    if (!deleted) await errors.write(`sluice: ${missing(id, scope)}\n`);
  }
  return outcomes.every(({ deleted }) => deleted) ? Exit.ok : Exit.failure;
}

/** Returns whether there was anything to delete. */
async function deleteAll(store: ArtifactStore, id: string, scope: ArtifactScope | undefined): Promise<boolean> {
  let deleted = false;
  for (const ref of await locateAll(store, id, scope)) {
    if (await store.delete(ref.id, ref.scope)) deleted = true;
  }
  // A damaged ref is not listed, but can be deleted by its id.
  return deleted || store.delete(id, scope);
}

export async function collectGarbage(invocation: Invocation, { output }: Terminal): Promise<number> {
  const store = await openKeptStore(invocation.value("store"));
  const collected = await collect(store, invocation.value("config"));
  const swept = await store.gc();
  const bytes = swept.bytes + (collected?.bytes ?? 0);
  if (invocation.has("json"))
    await output.write(`${JSON.stringify({ ...swept, bytes, artifacts: collected?.artifacts ?? 0 })}\n`);
  else {
    await output.write(`${describeRemoved(swept, collected?.artifacts ?? 0, bytes)}\n`);
  }
  return Exit.ok;
}

/** What was removed, for people. `artifacts` are those that the `retention` of a configuration does not keep. */
function describeRemoved({ blobs, temporaries }: SweepReport, artifacts: number, bytes: number): string {
  const parts = [
    artifacts > 0 ? countNoun(artifacts, "artifact") : "",
    blobs > 0 ? countNoun(blobs, "unused file") : "",
    temporaries > 0 ? countNoun(temporaries, "unfinished file") : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "there was nothing to remove" : `removed ${parts.join(", ")}: ${humanSize(bytes)} freed`;
}

/** Deletes what the configuration's `retention` does not keep; null without one, or while another process does it. */
async function collect(store: ArtifactStore, configFile: string | undefined): Promise<Collected | null> {
  if (configFile === undefined) return null;
  const config = await readConfig(configFile);
  // A misspelt `retention` would silently keep everything.
  const { store: kept } = await checkConfig(configFile, () => {
    checkSections(config);
    return withRetention(store, config);
  });
  return kept instanceof RetainingArtifactStore ? kept.collect() : null;
}

export async function purgeStore(invocation: Invocation, terminal: Terminal): Promise<number> {
  const folder = storeFolder(invocation.value("store"));
  const store = await openKeptStore(invocation.value("store"));
  if (!invocation.has("yes") && !(await askToPurge(store, folder, terminal))) return Exit.failure;
  await store.purge();
  if (invocation.has("json")) await terminal.output.write(`${JSON.stringify({ store: folder, purged: true })}\n`);
  return Exit.ok;
}

async function askToPurge(store: ArtifactStore, folder: string, { input, errors, signal }: Terminal): Promise<boolean> {
  if (input.isTTY !== true || !errors.isTerminal) {
    throw new UsageError(
      `purge deletes every artifact in ${printable(folder)} and there is no terminal to ask you on; add --yes to confirm`,
      "artifacts purge",
    );
  }
  let artifacts = 0;
  let bytes = 0;
  for await (const { size_bytes } of store.list()) {
    artifacts += 1;
    bytes += size_bytes;
  }
  const what = `${countNoun(artifacts, "artifact")} of ${humanSize(bytes)}`;
  const question = createInterface({ input, output: process.stderr });
  try {
    const answer = await question.question(`Delete ${what} in ${printable(folder)}? [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    question.close();
  }
}

/** A number of more digits is no place in a file. */
const TOO_LARGE = /\d{16}/;

/** Reads `0-99`, `100-` or `-50`. Throws UsageError. */
export function parseRange(text: string, command: string): WrittenRange {
  const range = TOO_LARGE.test(text) ? undefined : readRange(text);
  if (range === undefined) {
    throw new UsageError(
      `--range takes bytes as in HTTP: 0-99 for the first hundred, 100- for the rest, -50 for the last fifty; got ${JSON.stringify(text)}`,
      command,
    );
  }
  if (range === "backwards") {
    const [first = "", last = ""] = text.split("-");
    throw new UsageError(`--range ${text} ends before it begins; write ${last}-${first}`, command);
  }
  return range;
}

/** The half-open range of an artifact of `size` bytes. Throws CommandError when it holds no byte. */
export function toSpan(range: WrittenRange, size: number): Span {
  const span = resolveRange(range, size);
  if (span !== null) return span;
  const length = `${size.toLocaleString("en")} ${size === 1 ? "byte" : "bytes"}`;
  const remedy = size === 0 ? "" : "; choose one that begins before its end";
  throw new CommandError(Exit.failure, `the range is outside the artifact, which has ${length}${remedy}`);
}
