/**
 * Users' folders on this machine, and servers under bubblewrap that see only one of them (Node).
 * @module
 */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { SluiceError } from "../errors/error.js";
import { checkOptionNames, checkOptions, type OptionTests } from "../errors/arguments.js";
import { wrong, type UserFilesOptions } from "./options.js";
import { Workspace, type WorkspaceOptions } from "./workspace/workspace.js";

/** Options for users' folders, and for the servers that work in them. */
export interface LocalWorkspacesOptions extends Pick<WorkspaceOptions, "root"> {
  /**
   * Whether each user has servers of their own under bubblewrap (Linux), in which the folder is `/tmp/{username}`. If not, tools
   * get the folder's path on this machine.
   * @defaultValue `false`
   */
  readonly sandbox?: boolean;
  /** Folders that servers in a sandbox cannot see, such as stores and keys. */
  readonly hide?: readonly string[];
}

const OPTIONS: OptionTests<LocalWorkspacesOptions> = {
  root: ["the path of a folder", (value) => typeof value === "string" && value !== ""],
  sandbox: ["true or false", (value) => typeof value === "boolean"],
  hide: [
    "a list of paths of folders",
    (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  ],
};

/**
 * Options of `UserFiles` for tools that take paths, to be spread into its other options.
 *
 * @example
 * const userFiles = new UserFiles({ store, ...localWorkspaces({ sandbox: true, hide: ["./artifacts"] }) });
 * @throws SluiceError E_INVALID_ARGUMENT that names the wrong or unknown option.
 */
export function localWorkspaces(
  options: LocalWorkspacesOptions = {},
): Required<Pick<UserFilesOptions, "openWorkspace" | "command">> {
  checkOptions(options, OPTIONS, "localWorkspaces", wrong);
  const { sandbox = false, hide = [] } = options;
  const root = resolve(options.root ?? tmpdir());
  // `UserFiles` checks the size of files.
  const common = { root, maxBytes: Infinity };
  return {
    openWorkspace: (name) => Workspace.open({ ...common, ...(!sandbox && { shownRoot: root }), name }),
    command: async (argv, workspace) => {
      if (!sandbox) return argv;
      if (workspace instanceof Workspace) return buildSandboxCommand(argv, { workspace, hide });
      throw new SluiceError("E_MISUSE", "A sandbox needs a folder that openWorkspace opened with the same options.");
    },
  };
}

/** Options for a sandbox. */
export interface SandboxOptions {
  /** The only folder that the command can write to, at `/tmp/NAME`. */
  readonly workspace: Workspace;
  /** Existing folders that the command must not see, besides other workspaces: stores, keys. */
  readonly hide?: readonly string[];
  /** Path of bubblewrap. Default: `bwrap` on the PATH. */
  readonly program?: string;
}

/** No capabilities, no other processes or terminal, and an end together with its parent. */
const APART = "--cap-drop ALL --unshare-pid --unshare-ipc --new-session --die-with-parent".split(" ");
/** Remounts /proc as well, since root can write to it without capabilities. */
const READ_ONLY = "--ro-bind / / --dev /dev --remount-ro /dev --proc /proc --remount-ro /proc".split(" ");

/** Milliseconds that the trial run may take. */
const TRIAL_TIMEOUT = 10_000;
const TMP = "/tmp";
/** The folder of services' sockets, through which a command could have others write. */
const SERVICES = "/run";
/** The configuration of name resolution; often a link into the services' folder. */
const RESOLVER = "/etc/resolv.conf";
/** Where NixOS keeps its programs. */
const PROGRAMS = "/run/current-system";

/**
 * The command line that starts `argv` in a sandbox on Linux. The command can read the whole file system, but write only to the
 * workspace, which is at `/tmp/NAME`. It sees nothing of `/tmp`, `/run`, other workspaces and the folders in `hide`, and cannot
 * see or signal processes outside. All that it started is killed when the command or its parent ends. It gets the environment
 * with TMPDIR set to the workspace, and the machine's network.
 *
 * @throws SluiceError E_MISUSE if bubblewrap is missing or cannot create a sandbox: the command is never started without one;
 * E_INVALID_ARGUMENT without a command, and for a missing folder in `hide`.
 */
export async function buildSandboxCommand(
  argv: readonly string[],
  options: SandboxOptions,
): Promise<readonly string[]> {
  checkOptionNames(options, "buildSandboxCommand", ["hide", "program", "workspace"]);
  if (argv.length === 0) throw new SluiceError("E_INVALID_ARGUMENT", "There is no command to start.", { path: "argv" });
  const program = options.program ?? (await bubblewrap(process.platform));
  const wrapped = [program, ...(await sandboxArguments(options)), "--"];
  await tryOut([...wrapped, program, "--version"]);
  return [...wrapped, ...argv];
}

/**
 * Checks that sandboxes can be made here, before one is needed.
 *
 * @throws SluiceError E_MISUSE with the reason and the remedy.
 */
export async function checkSandbox(platform: NodeJS.Platform = process.platform): Promise<void> {
  const program = await bubblewrap(platform);
  await tryOut([program, ...APART, ...READ_ONLY, "--", program, "--version"]);
}

async function bubblewrap(platform: NodeJS.Platform): Promise<string> {
  if (platform !== "linux") throw unavailable("bubblewrap only runs on Linux");
  const program = await onPath("bwrap");
  if (program === undefined) throw unavailable("there is no bubblewrap (bwrap) on the PATH");
  return program;
}

/** The options of bubblewrap, in order: later mounts cover earlier ones. */
async function sandboxArguments({ workspace, hide = [] }: SandboxOptions): Promise<readonly string[]> {
  const own = join(TMP, workspace.name);
  if (workspace.prefix !== `${own}/`) {
    throw new SluiceError("E_INVALID_ARGUMENT", "In a sandbox, the workspace is in /tmp: leave out shownRoot.", {
      path: "workspace",
    });
  }
  const withServices = (await listNeededPaths()).flatMap((path) => ["--ro-bind", path, path]);
  return [
    ...APART,
    ...READ_ONLY,
    ...empty(SERVICES, withServices),
    ...(await listHiddenFolders([workspace.root, ...hide])).flatMap((folder) => empty(folder)),
    ...empty(TMP, ["--bind", workspace.folder, own]),
    "--setenv",
    "TMPDIR",
    own,
  ];
}

/** Mounts an empty read-only folder that contains only `within`. */
function empty(folder: string, within: readonly string[] = []): readonly string[] {
  return ["--tmpfs", folder, ...within, "--remount-ro", folder];
}

/** The real paths of folders, without those inside of others. */
async function listHiddenFolders(folders: readonly string[]): Promise<readonly string[]> {
  const real = [...new Set(await Promise.all(folders.map(folderAt)))].sort();
  const isHidden = (folder: string): boolean =>
    [TMP, SERVICES].some((other) => isWithin(folder, other)) ||
    real.some((other) => other !== folder && isWithin(folder, other));
  return real.filter((folder) => !isHidden(folder));
}

async function folderAt(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined && real !== sep && (await stat(real)).isDirectory()) return real;
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    "hide names a folder that does not exist, or the root folder: create each folder before a sandbox hides it.",
    {
      path: "hide",
    },
  );
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The parts of the services' folder that commands need. */
async function listNeededPaths(): Promise<readonly string[]> {
  const resolver = await realpath(RESOLVER).catch(() => undefined);
  const hasPrograms = await stat(PROGRAMS).then(
    () => true,
    () => false,
  );
  const isInside = resolver !== undefined && isWithin(resolver, SERVICES);
  return [...(isInside ? [resolver] : []), ...(hasPrograms ? [PROGRAMS] : [])];
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (
      isAbsolute(folder) &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return path;
  }
  return undefined;
}

/** Creates the same sandbox for a moment, so that errors show before the command starts. */
async function tryOut([program = "", ...args]: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(program, args, { timeout: TRIAL_TIMEOUT, killSignal: "SIGKILL", env: {} });
  } catch (error) {
    const said = (error as { readonly stderr?: string }).stderr ?? "";
    throw unavailable(reasonIn(said), error);
  }
}

function reasonIn(said: string): string {
  if (/namespace|Operation not permitted|Failed to make \/ slave|pivot_root/i.test(said)) {
    return "bubblewrap may not create namespaces here, as in many containers and chroots";
  }
  // Removes paths of this machine.
  const first = /^bwrap: (.{1,200})$/m.exec(said)?.[1]?.replaceAll(/\/[^\s:]*/g, "…");
  return first === undefined ? "bubblewrap could not be started" : `bubblewrap says: ${first}`;
}

function unavailable(reason: string, cause?: unknown): SluiceError {
  return new SluiceError(
    "E_MISUSE",
    `The command was not started because it cannot be sandboxed: ${reason}. Use Linux with the package bubblewrap ` +
      `and user namespaces for its users (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, ` +
      `kernel.apparmor_restrict_unprivileged_userns).`,
    {},
    { cause },
  );
}
