/**
 * Users' folders on this machine, and servers that see one of them alone (Node).
 * @module
 */
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { SluiceError } from "../errors/error.js";
import { checkOptions, type OptionTests } from "../errors/options.js";
import { wrong, type UserFilesOptions } from "./options.js";
import { sandboxed } from "./sandbox.js";
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
