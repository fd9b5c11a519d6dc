/**
 * The command line as a child process, on real input.
 * @module
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { sluiceHere } from "./in-process.js";

/** The checkout. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What `npm run build` made of the command. */
export const COMMAND = join(ROOT, "dist", "cli", "main.js");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** Whom the command runs as; only root may say. */
  readonly uid?: number;
  readonly gid?: number;
}

/** Starts `sluice` with these arguments. */
export function start(
  args: readonly string[],
  { cwd, env, node = [], uid, gid }: RunOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...node, COMMAND, ...args], { cwd, uid, gid, env: { ...process.env, ...env } });
}

/** Runs `sluice` to its end. */
export async function sluice(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return toItsEnd(start(args, options), options);
}

/** Runs a line of shell to its end. */
export async function shell(line: string, options: Pick<RunOptions, "input"> = {}): Promise<Ended> {
  return toItsEnd(spawn("sh", ["-c", line]), options);
}

async function toItsEnd(child: ChildProcessWithoutNullStreams, options: Pick<RunOptions, "input">): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const closed = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  await feed(child, options.input);
  const code = await closed;
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** A command that stops reading early is no error of the test. */
async function feed({ stdin }: ChildProcessWithoutNullStreams, input: RunOptions["input"]): Promise<void> {
  stdin.on("error", () => undefined);
  if (input === undefined || typeof input === "string" || input instanceof Uint8Array) {
    stdin.end(input ?? "");
    return;
  }
  await pipeline(input, stdin).catch(() => undefined);
}

/** A folder for one test, gone after it. */
export class Room implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async open(): Promise<Room> {
    return new Room(await realpath(await mkdtemp(join(tmpdir(), "sluice-cli-"))));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  get store(): string {
    return this.path("store");
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    await writeFile(this.path(name), content);
    return this.path(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A reference as `artifacts list --json` prints it. */
export interface ListedRef {
  readonly id: string;
  readonly sha256: string;
  readonly mime_type: string | null;
  readonly size_bytes: number;
  readonly filename: string | null;
  readonly scope: Readonly<Record<string, string | null>>;
}

/** What a store holds, by the command itself. */
export async function listed(store: string, ...args: string[]): Promise<ListedRef[]> {
  const { stdout } = await sluiceHere(["artifacts", "list", "--json", "--store", store, ...args]);
  return JSON.parse(stdout) as ListedRef[];
}
