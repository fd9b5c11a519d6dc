/**
 * What `sluice install` and `sluice uninstall` change in a configuration, before anything is written.
 * @module
 */
import { backupBefore, listBackups, readBackup, type ConfigFile } from "./config-file.js";
import { editConfig, parseConfig, type ConfigData, type EntryChange, type TextEdit } from "./config-text.js";
import { printable } from "../terminal/terminal.js";
import {
  restoreBeside,
  changeBeside,
  listServers,
  showMember,
  withoutSluice,
  withSluice,
  type Server,
} from "./servers.js";

/** The change of one server's entry. */
export interface ServerChange {
  readonly server: Server;
  readonly change: EntryChange;
  /** What changes beside that part of the entry. */
  readonly beside: EntryChange;
}

/** The change of one configuration. */
export interface Plan {
  readonly file: ConfigFile;
  readonly servers: readonly Server[];
  readonly changes: readonly ServerChange[];
  readonly content: Uint8Array;
  /** Backups that are the new content, and those between: they go once it is written. */
  readonly usedBackups: readonly string[];
}

/** Puts Sluice in front of servers: of all that it can be put in front of, or of those that are named. */
export async function installPlan(
  file: ConfigFile,
  program: readonly string[],
  wanted: readonly string[],
): Promise<Plan> {
  const servers = listServers(file.host, file.data, wanted);
  const changes = servers
    .filter(
      ({ name, standing }) => isWanted(name, wanted) && (standing.kind === "command" || standing.kind === "remote"),
    )
    .map((server) => ({ server, change: withSluice(server, program), beside: changeBeside(server) }));
  return { file, servers, changes, content: await buildContent(file, changes), usedBackups: [] };
}

/**
 * Takes Sluice away from servers. If the file has not changed since Sluice was put in front of them, it gets the bytes that it
 * had; otherwise the entries alone are changed.
 */
export async function uninstallPlan(file: ConfigFile, wanted: readonly string[]): Promise<Plan> {
  const servers = listServers(file.host, file.data);
  const behind = servers.filter(({ name, standing }) => isWanted(name, wanted) && standing.kind === "behind");
  const backups = await listBackups(file.target);
  const known = await Promise.all(backups.map((path) => readBackup(path, file)));
  const changes = behind.flatMap((server): ServerChange[] => {
    const before = serverBefore(server, known);
    const change = withoutSluice(server, before?.entry);
    return change.size === 0 ? [] : [{ server, change, beside: restoreBeside(server, before?.whole.entry) }];
  });
  if (changes.length === 0) return { file, servers, changes, content: file.bytes, usedBackups: [] };
  const rest = servers.filter(
    (server) => server.standing.kind === "behind" && !changes.some((each) => each.server === server),
  );
  const earlier = await earlierContent(file, rest);
  if (earlier !== undefined) return { file, servers, changes, ...earlier };
  return { file, servers, changes, content: await buildContent(file, changes), usedBackups: [] };
}

const isWanted = (name: string, wanted: readonly string[]): boolean => wanted.length === 0 || wanted.includes(name);

async function buildContent({ text, host, place }: ConfigFile, changes: readonly ServerChange[]): Promise<Uint8Array> {
  const edits = changes.flatMap(({ server: { path, whole }, change, beside }): TextEdit[] => [
    { path, change },
    ...(beside.size === 0 ? [] : [{ path: whole.path, change: beside }]),
  ]);
  return new TextEncoder().encode(await editConfig(text, host.format, edits, printable(place)));
}

/** A server in the latest backup in which Sluice is not in front of it. */
function serverBefore({ host, path }: Server, backups: readonly (ConfigData | undefined)[]): Server | undefined {
  const key = JSON.stringify(path);
  return backups
    .flatMap((data) => (data === undefined ? [] : listServers(host, data)))
    .find((server) => JSON.stringify(server.path) === key && server.standing.kind !== "behind");
}

/** What the file was when Sluice was in front of no other servers than `rest`, if every change since then was ours. */
async function earlierContent(
  file: ConfigFile,
  rest: readonly Server[],
): Promise<Pick<Plan, "content" | "usedBackups"> | undefined> {
  const usedBackups: string[] = [];
  let content = file.bytes;
  for (;;) {
    const before = await backupBefore(file.target, content);
    if (before === undefined || usedBackups.includes(before.path)) return undefined;
    usedBackups.push(before.path);
    content = before.bytes;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
    const data = await parseConfig(text, file.host.format, printable(before.path)).catch(() => undefined);
    if (data === undefined) return undefined;
    if (pathsBehind(listServers(file.host, data)) === pathsBehind(rest)) return { content, usedBackups };
  }
}

/** Where the entries of servers behind Sluice are, as one text. */
function pathsBehind(servers: readonly Server[]): string {
  return JSON.stringify(servers.filter(({ standing }) => standing.kind === "behind").map(({ path }) => path));
}

/** The lines of a change, without secrets: `-` before what goes, `+` before what comes. */
export function showDiff({ file: { host }, changes }: Plan): readonly string[] {
  const { format, shape } = host;
  const separator = { json: ": ", yaml: ": ", toml: " = " }[format];
  const member = (sign: string, key: string, value: unknown): string[] => {
    if (value === undefined) return [];
    const name = format === "json" ? JSON.stringify(key) : key;
    return [`${sign} ${name}${separator}${showMember(key, value, shape)}`];
  };
  return changes.flatMap(({ server: { name, entry, whole }, change, beside }) => {
    const all = [
      ...[...change].map((each) => [entry, ...each] as const),
      ...[...beside].map((each) => [whole.entry, ...each] as const),
    ];
    const before = all.flatMap(([said, key]) => member("-", key, said[key]));
    const after = all.flatMap(([, key, value]) => member("+", key, value));
    const same = new Set(
      before.map((line) => line.slice(1)).filter((line) => after.some((other) => other.slice(1) === line)),
    );
    const lines = [...before, ...after].filter((line) => !same.has(line.slice(1)));
    return [`@@ ${[...whole.path.slice(0, -1), name].join(".")} @@`, ...lines];
  });
}
