/**
 * `sluice run`: a server that can write to one user's folder only.
 * @module
 */
import { mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { SluiceError } from "../../errors/error.js";
import { sandboxed } from "../../files/local-workspaces.js";
import { workspaceName } from "../../files/names.js";
import { Workspace, type WorkspaceOptions } from "../../files/workspace/workspace.js";
import { inherited } from "../../mcp/gated-stdio.js";
import { CommandError, Exit, UsageError } from "../exit.js";
import { endLike } from "../proxy/stdio.js";
import type { Invocation } from "../spec.js";
import { defaultFolder } from "../store.js";
import { Sandbox } from "./sandbox-process.js";

/** Ends with the exit code of the command. Throws UsageError, and SluiceError where it cannot be sandboxed. */
export async function run(invocation: Invocation): Promise<number> {
  const user_id = invocation.value("user");
  if (user_id === undefined) throw new UsageError("say whose server it is with --user NAME", "run");
  const { operands } = invocation;
  if (operands.length === 0) {
    throw new UsageError("run needs a command: sluice run --user NAME -- COMMAND ARGS…", "run");
  }
  const root = invocation.value("tmp");
  const name = await workspaceName({ tenant_id: invocation.value("tenant") ?? null, user_id });
  const workspace = await opened({ name, ...(root !== undefined && { root }) });
  const hide = [...(await ownStore()), ...invocation.values("hide")];
  const argv = await sandboxed(operands, { workspace, hide });
  return endLike(await new Sandbox(argv, environment(invocation.values("env"))).ended);
}

/** Who reads of a store would look for it in the wrong place. */
async function opened(options: WorkspaceOptions): Promise<Workspace> {
  try {
    return await Workspace.open(options);
  } catch (error) {
    if (!(error instanceof SluiceError) || !error.code.startsWith("E_STORE_")) throw error;
    throw new CommandError(Exit.create, error.message, { cause: error });
  }
}

/** Made where there is none: a store that comes into being later must not be seen either. */
async function ownStore(): Promise<readonly string[]> {
  const folder = defaultFolder(process.env, process.platform, homedir());
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return (await stat(folder).catch(() => undefined)) === undefined ? [] : [folder];
}

function environment(names: readonly string[]): NodeJS.ProcessEnv {
  return { ...inherited(), ...Object.fromEntries(names.map((name) => [name, process.env[name]])) };
}
