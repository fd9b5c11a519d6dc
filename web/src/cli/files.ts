/**
 * `sluice files …`: lists, stores, reads and deletes the files of one user.
 *
 * The operands and options are in `commands/files.ts`.
 * @module
 */
import { TieredArtifactStore } from "../artifacts/tiered-store.js";
import { countNoun, humanSize } from "../core/amounts.js";
import { FLAGS, MIB } from "../files/options.js";
import { coreDescriber, UserStorage } from "../files/user-storage.js";
import type { UserFile } from "../files/user-file.js";
import { SluiceError } from "../errors/error.js";
import { commandLine, type Invocation } from "./command.js";
import { deliver } from "./terminal/delivery.js";
import { Exit, UsageError } from "./exit.js";
import { fileFlags } from "./configuration.js";
import { openInput, type Input } from "./terminal/input.js";
import { openLargeStore, openKeptStore } from "./store/store.js";
import { Progress } from "./terminal/progress.js";
import { printJson } from "./terminal/json.js";
import { printTable, joinRow, type Column } from "./terminal/table.js";
import { clause, humanAge, printable, type Output, type Terminal } from "./terminal/terminal.js";

export async function listFiles(invocation: Invocation, { output }: Terminal): Promise<number> {
  const files = await withFiles(invocation, (storage) => storage.list());
  if (invocation.has("json")) await printJson(files, output);
  else if (output.isTerminal) await printList(files, output);
  else for (const file of files) await output.write(`${joinRow(plainRow(file))}\n`);
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

async function printList(files: readonly UserFile[], output: Output): Promise<void> {
  const rows = files.map((file) => {
    const [name = "", type = "", , origin = "", ...more] = plainRow(file);
    return [name, type, humanSize(file.size_bytes), humanAge(Date.now() - file.stored_at), origin, ...more];
  });
  await printTable(COLUMNS, rows, output);
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  await output.write(output.dim(`${countNoun(rows.length, "file")}, ${humanSize(bytes)}\n`));
}

export async function putFiles(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [as, names] = [invocation.value("as"), invocation.operands];
  if (as !== undefined && names.length > 1) throw new UsageError("--as names one file", invocation.command);
  if (as === undefined && (names.length === 0 || names.includes("-"))) {
    throw new UsageError("standard input has no name: name the file with --as NAME", invocation.command);
  }
  const kept: UserFile[] = [];
  await withFiles(invocation, async (files) => {
    for (const name of names.length === 0 ? ["-"] : names) {
      const file = await put(files, as ?? name, await openInput(name, terminal), terminal);
      kept.push(file);
      if (!invocation.has("json")) await terminal.output.write(`${printable(file.name)}\n`);
    }
  });
  if (invocation.has("json")) await printJson(kept, terminal.output);
  return Exit.ok;
}

async function put(files: UserStorage, name: string, input: Input, terminal: Terminal): Promise<UserFile> {
  const progress = new Progress(terminal.errors, "put", input.size);
  try {
    return await files.put(name, reportProgress(input.chunks, progress, terminal.signal));
  } finally {
    await progress.done();
  }
}

async function* reportProgress(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
    await progress.add(chunk.length);
  }
}

export async function getFile(invocation: Invocation, terminal: Terminal): Promise<number> {
  await withFiles(invocation, async (files) => {
    const name = invocation.operands[0] ?? "";
    const bytes = await files.open(name);
    const found = await files.find(name);
    const mime_type = found?.mime_type ?? null;
    const what = { name, mime_type, size: found?.size_bytes ?? 0, command: invocation.command };
    await deliver(bytes, what, invocation.value("output"), terminal);
  });
  return Exit.ok;
}

export async function renameFile(invocation: Invocation, { output }: Terminal): Promise<number> {
  const [name = "", to = ""] = invocation.operands;
  const file = await withFiles(invocation, (files) => files.rename(name, to));
  if (invocation.has("json")) await printJson(file, output);
  else await output.write(`${printable(file.name)}\n`);
  return Exit.ok;
}

export async function removeFiles(invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const outcomes: { name: string; removed: boolean }[] = [];
  await withFiles(invocation, async (files) => {
    for (const name of invocation.operands) outcomes.push({ name, removed: await files.remove(name) });
  });
  if (invocation.has("json")) await printJson(outcomes, output);
  for (const { name, removed } of outcomes) {
    if (!removed) await errors.write(`sluice: there is no file ${printable(JSON.stringify(name))}\n`);
  }
  return outcomes.every(({ removed }) => removed) ? Exit.ok : Exit.failure;
}

/** Works with the files of `--user`, and of `--tenant` if given. Throws UsageError. */
async function withFiles<T>(invocation: Invocation, work: (files: UserStorage) => Promise<T>): Promise<T> {
  const user_id = invocation.value("user");
  if (user_id === undefined || user_id === "") {
    throw new UsageError("name the user whose files you mean: --user NAME", invocation.command);
  }
  const near = await openKeptStore(invocation.value("store"));
  const { base64_size_limit_mb, max_file_size_mb } = { ...FLAGS, ...fileFlags(invocation) };
  const place = invocation.value("large-store");
  await using large = place === undefined ? undefined : await openLargeStore(place);
  const limitBytes = Math.floor(base64_size_limit_mb * MIB);
  const store = large === undefined ? near : new TieredArtifactStore({ near, far: large.store, limitBytes });
  const owner = { tenant_id: invocation.value("tenant") ?? null, user_id };
  const options = { describer: coreDescriber(undefined), maxBytes: Math.floor(max_file_size_mb * MIB) };
  try {
    return await work(new UserStorage(store, owner, options));
  } catch (error) {
    throw withList(error, invocation);
  }
}

/** The error of a file that is not there, with the command that lists those that are. */
function withList(error: unknown, invocation: Invocation): unknown {
  if (!(error instanceof SluiceError) || error.code !== "E_NOT_FOUND" || error.message.endsWith("?")) return error;
  const list = commandLine("files list", invocation, ["user", "tenant", "store", "large-store"]);
  return new SluiceError(error.code, `${clause(error.message)}, with \`${list}\``, {}, { cause: error });
}
