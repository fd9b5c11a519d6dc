/**
 * Users' folders on this machine, and servers that see one of them alone, under bubblewrap (Node).
 * @module
 */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { SluiceError } from "../errors/error.js";
import { checkOptions, type OptionTests } from "../errors/arguments.js";
import { wrong, type UserFilesOptions } from "./options.js";
import { Workspace, type WorkspaceOptions } from "./workspace/workspace.js";

/** Where users' folders are, and how servers are started that work in them. */
export interface LocalWorkspacesOptions extends Pick<WorkspaceOptions, "root"> {
  /**
   * Whether each user has servers of their own under bubblewrap, to whom the folder is `/tmp/{username}` (Linux); else tools are
   * told the folder as it is on this machine.
   * @defaultValue `false`
   */
  readonly sandbox?: boolean;
  /** Folders that servers in a sandbox do not see: stores, keys. */
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
 * What `UserFiles` needs for tools that take paths: to be spread into its options.
 *
 * @example
 * const userFiles = new UserFiles({ store, ...localWorkspaces({ sandbox: true, hide: ["./artifacts"] }) });
 * @throws SluiceError E_INVALID_ARGUMENT that names the option that is wrong, or that there is not.
 */
export function localWorkspaces(
  options: LocalWorkspacesOptions = {},
): Required<Pick<UserFilesOptions, "openWorkspace" | "command">> {
  checkOptions(options, OPTIONS, "localWorkspaces", wrong);
  const { sandbox = false, hide = [] } = options;
  const root = resolve(options.root ?? tmpdir());
  // How large a file may be is for whoever takes it to say, who says so in one place.
  const common = { root, maxBytes: Infinity };
  return {
    openWorkspace: (name) => Workspace.open({ ...common, ...(!sandbox && { shownRoot: root }), name }),
    command: async (argv, workspace) => {
      if (!sandbox) return argv;
      if (workspace instanceof Workspace) return sandboxed(argv, { workspace, hide });
      throw new SluiceError("E_MISUSE", "A sandbox needs a folder that openWorkspace of the same options opened.");
    },
  };
}

/** What a command may touch. */
export interface SandboxOptions {
  /** The only place that it may write to; there it is `/tmp/NAME`. */
  readonly workspace: Workspace;
  /** Folders of this machine that it must not see, beside the other workspaces: stores, keys. They have to be there. */
  readonly hide?: readonly string[];
  /** The program bubblewrap; `bwrap` on the PATH when left out. */
  readonly program?: string;
}

/** No rights, also not root's; nobody else's processes or terminal; and an end with whoever started it. */
const APART = "--cap-drop ALL --unshare-pid --unshare-ipc --new-session --die-with-parent".split(" ");
/** Root may write to much in /proc without any right. */
const READ_ONLY = "--ro-bind / / --dev /dev --remount-ro /dev --proc /proc --remount-ro /proc".split(" ");

/** Milliseconds that the attempt may take. */
const PATIENCE = 10_000;
const TMP = "/tmp";
/** Where services listen: whoever reaches them has others write in its place. */
const SERVICES = "/run";
/** Says who knows the names of other machines; often a link to something in there. */
const RESOLVER = "/etc/resolv.conf";
/** Where NixOS keeps its programs. */
const PROGRAMS = "/run/current-system";

/**
 * The command line that starts `argv` in a sandbox of Linux. The whole file system can be read and not be written, but for the
 * workspace, which is at `/tmp/NAME`; of `/tmp`, `/run`, other workspaces and what `hide` names nothing can be seen. Processes
 * outside can neither be seen nor be reached by signals. When the process that started it goes, or the command ends, all that it
 * started is killed. The environment is handed on, with TMPDIR being the workspace. The network is that of the machine.
 *
 * Throws SluiceError E_MISUSE where there is no bubblewrap, or it cannot make a sandbox here: the command is never started without
 * one; E_INVALID_ARGUMENT for no command, and for a folder to hide that is not there.
 */
export async function sandboxed(argv: readonly string[], options: SandboxOptions): Promise<readonly string[]> {
  if (argv.length === 0) throw new SluiceError("E_INVALID_ARGUMENT", "There is no command to start.", { path: "argv" });
  if (process.platform !== "linux") throw unavailable("bubblewrap runs on Linux alone");
  const program = options.program ?? (await onPath("bwrap"));
  if (program === undefined) throw unavailable("there is no bubblewrap (bwrap) on the PATH");
  const wrapped = [program, ...(await termsOf(options)), "--"];
  await attempt([...wrapped, program, "--version"]);
  return [...wrapped, ...argv];
}

/** In the order in which they are done: what comes later lies over what was there. */
async function termsOf({ workspace, hide = [] }: SandboxOptions): Promise<readonly string[]> {
  const own = join(TMP, workspace.name);
  if (workspace.prefix !== `${own}/`) {
    throw new SluiceError("E_INVALID_ARGUMENT", "In a sandbox a workspace is in /tmp: leave its shownRoot out.", {
      path: "workspace",
    });
  }
  const withServices = (await needed()).flatMap((path) => ["--ro-bind", path, path]);
  return [
    ...APART,
    ...READ_ONLY,
    ...empty(SERVICES, withServices),
    ...(await hidden([workspace.root, ...hide])).flatMap((folder) => empty(folder)),
    ...empty(TMP, ["--bind", workspace.folder, own]),
    "--setenv",
    "TMPDIR",
    own,
  ];
}

/** A folder with nothing in it but this, which nothing can be added to. */
function empty(folder: string, within: readonly string[] = []): readonly string[] {
  return ["--tmpfs", folder, ...within, "--remount-ro", folder];
}

/** Their real paths, without those that are hidden with another. */
async function hidden(folders: readonly string[]): Promise<readonly string[]> {
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
    "hide names a folder that is not there, or the root of all: make each folder before a sandbox hides it.",
    {
      path: "hide",
    },
  );
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** What is needed of the services' folder all the same. */
async function needed(): Promise<readonly string[]> {
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

/** Makes the very sandbox for a moment: what it fails at is then known before a command runs. */
async function attempt([program = "", ...args]: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(program, args, { timeout: PATIENCE, killSignal: "SIGKILL", env: {} });
  } catch (error) {
    const said = (error as { readonly stderr?: string }).stderr ?? "";
    throw unavailable(reasonIn(said), error);
  }
}

function reasonIn(said: string): string {
  if (/namespace|Operation not permitted|Failed to make \/ slave|pivot_root/i.test(said)) {
    return "bubblewrap may not make namespaces here, as in many containers and chroots";
  }
  // Paths of this machine are nobody's business.
  const first = /^bwrap: (.{1,200})$/m.exec(said)?.[1]?.replaceAll(/\/[^\s:]*/g, "…");
  return first === undefined ? "bubblewrap could not be started" : `bubblewrap says: ${first}`;
}

function unavailable(reason: string, cause?: unknown): SluiceError {
  return new SluiceError(
    "E_MISUSE",
    `The command was not started, since it cannot be sandboxed: ${reason}. Use Linux with the package bubblewrap ` +
      `and user namespaces for its users (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, ` +
      `kernel.apparmor_restrict_unprivileged_userns).`,
    {},
    { cause },
  );
}
