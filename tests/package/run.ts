/**
 * Programs as a user's shell would start them.
 * @module
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The checkout. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Takes from npm's cache what is there, and asks for nothing that an installation does not need. */
export const NPM_QUIET: readonly string[] = ["--prefer-offline", "--no-audit", "--no-fund"];

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; throws with what it wrote when it fails. `path` replaces the PATH. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, path }: { readonly cwd: string; readonly path?: string },
): Promise<Ran> {
  const env = { ...process.env, ...(path !== undefined && { PATH: path }) };
  try {
    return await promisify(execFile)(program, args, { cwd, env, maxBuffer: 32 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr, message } = error as Error & Ran;
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error });
  }
}
