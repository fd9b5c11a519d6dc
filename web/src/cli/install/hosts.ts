/**
 * The hosts that `sluice install` knows: where each keeps its configuration, and how it writes down a server.
 *
 * All files are edited, also where a host has a command of its own for that, such as `claude mcp add-json`: such a command
 * takes the whole entry as an argument, secrets included, and other users of a machine can read a process's arguments.
 * @module
 */
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** How a configuration is written. JSON may have comments and trailing commas. */
export type Format = "json" | "toml" | "yaml";

/** The names of a server's entries in a host's configuration. */
export interface EntryShape {
  /** The program, or the program and its arguments in one list. */
  readonly command: string;
  /** The arguments. Undefined if `command` is a list that has them. */
  readonly args: string | undefined;
  readonly env: string;
  /** The address of a server that speaks HTTP: the first name that an entry has. */
  readonly urls: readonly string[];
  readonly headers: string;
  /** What `type` says of a server that is a command. Undefined if the host has no such type: an entry with a command then has none. */
  readonly commandType: string | undefined;
  /** Names that say the host speaks the older transport with server-sent events to the address in them. */
  readonly eventUrls?: readonly string[];
  /** Names with which the host signs in to a server by itself, or finds headers in a way that only it knows. */
  readonly signIn: readonly string[];
  /** What the host replaces in headers, but not in the environment of a command. */
  readonly onlyInHeaders?: RegExp;
  /** The member of an entry that has all of these, where the host writes them one level deeper. */
  readonly inner?: string;
  /** The list of tools that the host offers of a server, if an entry has one; `*` in it stands for all. It stands beside `inner`. */
  readonly allowed?: string;
  /** What an entry of a command behind Sluice gets unless it says something else, beside `inner`. */
  readonly more?: Readonly<Record<string, string | number | boolean>>;
}

/** A machine, as far as it says where configurations are. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The current folder. */
  readonly folder: string;
}

/** A host. */
export interface Host {
  /** The word on the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: Format;
  /** The paths of the maps from a server's name to its entry, or of lists of entries with names; `*` stands for any name. */
  readonly maps: readonly (readonly string[])[];
  readonly shape: EntryShape;
  /** The files that may be its configuration. */
  files(machine: Machine): readonly string[];
}

/** Words that most hosts use. */
const USUAL: EntryShape = {
  command: "command",
  args: "args",
  env: "env",
  urls: ["url"],
  headers: "headers",
  commandType: "stdio",
  signIn: ["oauth", "auth", "authorization"],
};

/** Those of Gemini CLI, and of what was made of it. */
const GEMINI: EntryShape = {
  ...USUAL,
  urls: ["httpUrl", "url"],
  commandType: undefined,
  eventUrls: ["url"],
  signIn: [...USUAL.signIn, "authProviderType"],
  allowed: "includeTools",
};

/** Those of OpenCode, and of what was made of it. */
const OPENCODE: EntryShape = { ...USUAL, args: undefined, env: "environment", commandType: "local" };

export const HOSTS: readonly Host[] = [
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    maps: [["mcpServers"]],
    shape: USUAL,
    files: (machine) =>
      // There is none for Linux.
      machine.platform === "linux" ? [] : [inApplicationData(machine, "Claude", "claude_desktop_config.json")],
  },
  {
    id: "claude-code",
    title: "Claude Code",
    format: "json",
    // For every project, and for one.
    maps: [["mcpServers"], ["projects", "*", "mcpServers"]],
    shape: { ...USUAL, signIn: [...USUAL.signIn, "headersHelper"] },
    files: (machine) => [inFolder(machine, machine.env["CLAUDE_CONFIG_DIR"], [], ".claude.json")],
  },
  {
    id: "vscode",
    title: "VS Code",
    format: "json",
    maps: [["servers"]],
    shape: USUAL,
    files: (machine) => [
      inApplicationData(machine, "Code", "User", "mcp.json"),
      inApplicationData(machine, "Code - Insiders", "User", "mcp.json"),
    ],
  },
  {
    id: "cursor",
    title: "Cursor",
    format: "json",
    maps: [["mcpServers"]],
    shape: USUAL,
    files: (machine) => [inHome(machine, ".cursor", "mcp.json")],
  },
  {
    id: "windsurf",
    title: "Windsurf",
    format: "json",
    maps: [["mcpServers"]],
    shape: { ...USUAL, urls: ["serverUrl", "url"] },
    files: (machine) => [inHome(machine, ".codeium", "windsurf", "mcp_config.json")],
  },
  {
    id: "zed",
    title: "Zed",
    format: "json",
    maps: [["context_servers"]],
    shape: USUAL,
    files: (machine) => [
      machine.platform === "win32"
        ? inApplicationData(machine, "Zed", "settings.json")
        : inFolder(machine, xdgConfiguration(machine), [".config"], "zed", "settings.json"),
    ],
  },
  {
    id: "codex",
    title: "Codex",
    format: "toml",
    maps: [["mcp_servers"]],
    shape: {
      ...USUAL,
      headers: "http_headers",
      signIn: [...USUAL.signIn, "bearer_token_env_var", "env_http_headers"],
      allowed: "enabled_tools",
      // `codex exec` begins a turn half a second after it starts servers, without those that have not answered.
      more: { required: true },
    },
    files: (machine) => [inFolder(machine, machine.env["CODEX_HOME"], [".codex"], "config.toml")],
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    format: "json",
    maps: [["mcpServers"]],
    shape: GEMINI,
    files: (machine) => [inHome(machine, ".gemini", "settings.json")],
  },
  {
    id: "qwen",
    title: "Qwen Code",
    format: "json",
    maps: [["mcpServers"]],
    shape: GEMINI,
    files: (machine) => [inHome(machine, ".qwen", "settings.json")],
  },
  {
    id: "opencode",
    title: "OpenCode",
    format: "json",
    // Of version 1, and of version 2.
    maps: [["mcp"], ["mcp", "servers"]],
    shape: OPENCODE,
    files: (machine) => [
      inHome(machine, ".config", "opencode", "opencode.json"),
      inHome(machine, ".config", "opencode", "opencode.jsonc"),
    ],
  },
  {
    id: "kilo",
    title: "Kilo",
    format: "json",
    maps: [["mcp"]],
    shape: OPENCODE,
    files: (machine) => [
      inHome(machine, ".config", "kilo", "kilo.json"),
      inHome(machine, ".config", "kilo", "kilo.jsonc"),
    ],
  },
  {
    id: "cline",
    title: "Cline",
    format: "json",
    maps: [["mcpServers"]],
    shape: {
      ...USUAL,
      inner: "transport",
      // It gives a server three seconds, and goes on without one that takes longer, without a word. In seconds.
      more: { timeout: 60 },
    },
    files: (machine) => [
      machine.env["CLINE_MCP_SETTINGS_PATH"] ??
        inHome(machine, ".cline", "data", "settings", "cline_mcp_settings.json"),
    ],
  },
  {
    id: "continue",
    title: "Continue",
    format: "yaml",
    maps: [["mcpServers"]],
    shape: { ...USUAL, headers: "requestOptions" },
    files: (machine) => [inHome(machine, ".continue", "config.yaml")],
  },
  {
    id: "crush",
    title: "Crush",
    format: "json",
    maps: [["mcp"]],
    shape: USUAL,
    files: (machine) => [
      machine.platform === "win32"
        ? inFolder(machine, machine.env["LOCALAPPDATA"], ["AppData", "Local"], "crush", "crush.json")
        : inFolder(machine, xdgConfiguration(machine), [".config"], "crush", "crush.json"),
    ],
  },
  {
    id: "copilot",
    title: "Copilot CLI",
    format: "json",
    maps: [["mcpServers"]],
    shape: { ...USUAL, commandType: "local", allowed: "tools" },
    files: (machine) => [inFolder(machine, machine.env["COPILOT_HOME"], [".copilot"], "mcp-config.json")],
  },
  {
    id: "goose",
    title: "Goose",
    format: "yaml",
    maps: [["extensions"]],
    shape: {
      ...USUAL,
      command: "cmd",
      env: "envs",
      urls: ["uri"],
      // Goose puts its own variables and secrets into headers, but not into the values of `envs`.
      onlyInHeaders: /\$/,
    },
    files: (machine) => [
      machine.platform === "win32"
        ? inApplicationData(machine, "Block", "goose", "config", "config.yaml")
        : inHome(machine, ".config", "goose", "config.yaml"),
    ],
  },
  {
    id: "librechat",
    title: "LibreChat",
    format: "yaml",
    maps: [["mcpServers"]],
    shape: {
      ...USUAL,
      signIn: [...USUAL.signIn, "requiresOAuth", "customUserVars"],
      // Different for each user, and a command is started once for all of them.
      onlyInHeaders: /\{\{/,
    },
    files: (machine) => [libreChatFile(machine)],
  },
];

/** The machine that this process runs on. */
export function thisMachine(env: NodeJS.ProcessEnv): Machine {
  return { platform: process.platform, home: homedir(), env, folder: process.cwd() };
}

/** LibreChat has no place of its own: its configuration is in the folder that it is started in. */
function libreChatFile(machine: Machine): string {
  const configured = machine.env["CONFIG_PATH"];
  // Other programs use a variable of this name too.
  const isYaml = configured !== undefined && /\.ya?ml$/i.test(configured);
  return selectPaths(machine).resolve(machine.folder, isYaml ? configured : "librechat.yaml");
}

/** Paths as the machine writes them. */
function selectPaths({ platform }: Machine): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function inHome(machine: Machine, ...names: readonly string[]): string {
  return selectPaths(machine).join(machine.home, ...names);
}

/** A file in a folder that a variable may name, or else in a folder of the home folder. */
function inFolder(
  machine: Machine,
  configured: string | undefined,
  otherwise: readonly string[],
  ...names: readonly string[]
): string {
  const folder = configured === undefined || configured === "" ? inHome(machine, ...otherwise) : configured;
  return selectPaths(machine).join(folder, ...names);
}

/** A file in the folder where applications keep what is a user's. */
function inApplicationData(machine: Machine, ...names: readonly string[]): string {
  const { platform, env } = machine;
  if (platform === "win32") return inFolder(machine, env["APPDATA"], ["AppData", "Roaming"], ...names);
  if (platform === "darwin") return inHome(machine, "Library", "Application Support", ...names);
  return inFolder(machine, xdgConfiguration(machine), [".config"], ...names);
}

/** The variable counts on Linux alone, and only with an absolute path, as the XDG specification says. */
function xdgConfiguration({ platform, env }: Machine): string | undefined {
  const configured = env["XDG_CONFIG_HOME"];
  return platform === "linux" && configured !== undefined && posix.isAbsolute(configured) ? configured : undefined;
}
