/**
 * `sluice artifacts list`
 * @module
 */
import type { ArtifactRef, StoredArtifact } from "../../artifacts/store.js";
import type { Invocation } from "../commands.js";
import { Exit } from "../exit.js";
import { parseScope, scopeText } from "../scope.js";
import { openKeptStore, storeFolder } from "../store.js";
import { alignedTable, tabbedRow, type Column } from "../table.js";
import type { Output, Terminal } from "../terminal.js";
import { counted, humanSize } from "../../core/amounts.js";
import { humanAge, printable } from "../words.js";

export async function run(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const where = invocation.value("store");
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = await openKeptStore(where);
  if (invocation.has("json")) await printJson(store.list(scope), output);
  else if (output.isTerminal) await printTable(store.list(scope), output, storeFolder(where));
  else for await (const ref of store.list(scope)) await output.write(`${tabbedRow(plainRow(ref))}\n`);
  if (!(await store.isThere()))
    await errors.write(`sluice: nothing was ever stored in ${printable(storeFolder(where))}\n`);
  return Exit.ok;
}

/** An array with one ref a line, written as they come. */
async function printJson(refs: AsyncIterable<ArtifactRef>, output: Output): Promise<void> {
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

async function printTable(refs: AsyncIterable<StoredArtifact>, output: Output, folder: string): Promise<void> {
  const rows: string[][] = [];
  let bytes = 0;
  for await (const ref of refs) {
    const [id = "", type = "", , file = "", scope = ""] = plainRow(ref);
    rows.push([id, type, humanSize(ref.size_bytes), humanAge(Date.now() - ref.stored_at), file, scope]);
    bytes += ref.size_bytes;
  }
  const [titles = "", ...lines] = alignedTable(COLUMNS, rows);
  if (rows.length > 0) await output.write(`${output.bold(titles)}\n${lines.map((line) => `${line}\n`).join("")}`);
  await output.write(output.dim(`${counted(rows.length, "artifact")}, ${humanSize(bytes)} in ${printable(folder)}\n`));
}
