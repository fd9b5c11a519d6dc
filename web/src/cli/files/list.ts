/**
 * `sluice files list`
 * @module
 */
import { counted, humanSize } from "../../core/amounts.js";
import type { UserFile } from "../../files/user-file.js";
import { Exit } from "../exit.js";
import type { Invocation } from "../spec.js";
import { alignedTable, tabbedRow, type Column } from "../table.js";
import type { Output, Terminal } from "../terminal.js";
import { humanAge, printable } from "../words.js";
import { openFiles } from "./open-files.js";

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const files = await (await openFiles(invocation)).list();
  if (invocation.has("json")) await output.write(`${JSON.stringify(files, null, 2)}\n`);
  else if (output.isTerminal) await printTable(files, output);
  else for (const file of files) await output.write(`${tabbedRow(plainRow(file))}\n`);
  return Exit.ok;
}

function plainRow({ name, mime_type, size_bytes, origin, versions, facts, draft }: UserFile): string[] {
  const about = draft === null ? facts : (draft.reason ?? "draft").replaceAll("_", " ");
  return [printable(name), mime_type ?? "", String(size_bytes), origin, String(versions), about ?? ""];
}

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "TYPE" },
  { title: "SIZE", right: true },
  { title: "AGE", right: true },
  { title: "FROM" },
  { title: "VERSIONS", right: true },
  { title: "ABOUT" },
];

async function printTable(files: readonly UserFile[], output: Output): Promise<void> {
  const rows = files.map((file) => {
    const [name = "", type = "", , origin = "", ...more] = plainRow(file);
    return [name, type, humanSize(file.size_bytes), humanAge(Date.now() - file.stored_at), origin, ...more];
  });
  const [titles = "", ...lines] = alignedTable(COLUMNS, rows);
  if (rows.length > 0) await output.write(`${output.bold(titles)}\n${lines.map((line) => `${line}\n`).join("")}`);
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  await output.write(output.dim(`${counted(rows.length, "file")}, ${humanSize(bytes)}\n`));
}
