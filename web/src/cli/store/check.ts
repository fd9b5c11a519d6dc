/**
 * `sluice store check`: verifies everything in a store, and repairs what can be.
 * @module
 */
import { type CheckReport, type StoreFault, type StoreFaultKind } from "../../artifacts/file/check.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import { countNoun, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import type { Invocation } from "../command.js";
import { Exit, UsageError } from "../exit.js";
import { Progress } from "../terminal/progress.js";
import { printJson } from "../terminal/json.js";
import { printable, type Output, type Terminal } from "../terminal/terminal.js";
import { scopeText } from "./scope.js";
import { openBucket, openKeptStore } from "./store.js";

export async function checkStore(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const progress = new Progress(errors, "reading");
  const onProgress = (bytes: number): Promise<void> => progress.add(bytes);
  let report: CheckReport;
  try {
    report = await runCheck(invocation, onProgress);
  } finally {
    await progress.done();
  }
  if (invocation.has("json")) await printJson(report, output);
  else await printReport(report, output);
  return report.faults.every(({ state }) => state === "repaired") ? Exit.ok : Exit.failure;
}

async function runCheck(invocation: Invocation, onProgress: (bytes: number) => Promise<void>): Promise<CheckReport> {
  const where = invocation.value("store");
  const repair = invocation.has("repair");
  if (where === undefined || !/^s3:/i.test(where)) return (await openKeptStore(where)).check({ repair, onProgress });
  if (repair) {
    const sentence = "--repair needs a folder: a bucket repairs itself, and what is damaged in it can only be deleted";
    throw new UsageError(sentence, invocation.command);
  }
  await using store = await openBucket(where, "--store");
  return await readAll(store, onProgress);
}

/** Reads everything that a store lists, which checks it. */
async function readAll(store: ArtifactStore, onProgress: (bytes: number) => Promise<void>): Promise<CheckReport> {
  const faults: StoreFault[] = [];
  let [artifacts, contents, bytes] = [0, 0, 0];
  for await (const { id, scope } of store.list()) {
    artifacts += 1;
    try {
      const stream = await store.openReader(id, { scope });
      // It was deleted meanwhile.
      if (stream === null) continue;
      for await (const piece of stream) {
        bytes += piece.byteLength;
        await onProgress(piece.byteLength);
      }
      contents += 1;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_STORE_CORRUPT") throw error;
      faults.push({ kind: "content", id, scope, state: "lost" });
    }
  }
  return { artifacts, contents, bytes, faults, swept: null };
}

/** What is wrong, and the remedy where it is lost. */
const SENTENCES: Readonly<Record<StoreFaultKind, readonly [wrong: string, remedy: string]>> = {
  content: ["its bytes are damaged", "there is no sound copy: delete it and store it again"],
  missing: ["its bytes are missing", "there is no sound copy: delete it and store it again"],
  record: ["its record cannot be read", "nothing tells whose it is, or its bytes are damaged too: delete it"],
  name: ["it is not found by its name", "the store cannot be written: check its space and its access"],
  access: ["other users of this machine can read it", "its access cannot be changed: do it with chmod"],
  foreign: ["it is no plain file or folder", "remove it"],
};

async function printReport({ artifacts, contents, bytes, faults }: CheckReport, output: Output): Promise<void> {
  for (const fault of faults) await output.write(`${formatFault(fault)}\n`);
  const repaired = faults.filter(({ state }) => state === "repaired").length;
  const found = faults.length === 0 ? "all sound" : `${countNoun(faults.length, "fault")}, ${repaired} repaired`;
  const read = `${countNoun(artifacts, "artifact")}, ${countNoun(contents, "content")} of ${humanSize(bytes)}`;
  await output.write(output.isTerminal ? output.dim(`${read}: ${found}\n`) : `${read}: ${found}\n`);
}

function formatFault({ kind, id, scope, state }: StoreFault): string {
  const whose = scope === null ? "" : scopeText(scope);
  const what = id === null ? "a file of the store" : `${printable(id)}${whose === "" ? "" : ` (${printable(whose)})`}`;
  const [wrong, remedy] = SENTENCES[kind];
  const next = { repaired: "repaired", repairable: "--repair puts it right", lost: remedy }[state];
  return `${what}: ${wrong}; ${next}`;
}
