/**
 * The hosts: what is installed, how each is told of its model and of the server, and how it is started.
 * @module
 */
import { join } from "node:path";
import type { Packages } from "./install.js";

/** What a host is started with. */
export interface HostSetup {
  /** Where its packages are installed. */
  readonly folder: string;
  /** An empty home, of this run alone. */
  readonly home: string;
  /** The Node that the host needs. */
  readonly node: string;
  /** The model: without a path, and as OpenAI's clients want it. */
  readonly origin: string;
  readonly url: string;
  readonly server: { readonly command: string; readonly args: readonly string[] };
}

/** A command, and the files that it finds in its home, by path. */
export interface HostCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string | object>>;
}

/** A host with a model. */
export interface HarnessHost {
  /** As the command line calls it. */
  readonly word: string;
  /** As the table calls it. */
  readonly title: string;
  readonly version: string;
  readonly packages: Packages;
  /** Whether it needs a newer Node than Sluice does. */
  readonly hasNewerNode?: true;
  /** Most cases of one run; all, unless a host forgets what came before. */
  readonly batch?: number;
  readonly start: (setup: HostSetup) => HostCommand;
}

/** What the host is asked to do; the model decides by itself. */
const ASK = "Go on.";

const bin = (folder: string, path: string): string => join(folder, "node_modules", path);

function claudeCode(): HarnessHost {
  return {
    word: "claude-code",
    title: "Claude Code",
    version: "2.1.328",
    packages: { "@anthropic-ai/claude-code-linux-x64": "2.1.328" },
    start: ({ folder, origin, server }) => ({
      command: bin(folder, "@anthropic-ai/claude-code-linux-x64/claude"),
      args: [
        "-p",
        ASK,
        "--model",
        "claude-sonnet-4-5",
        "--mcp-config",
        "mcp.json",
        "--strict-mcp-config",
        "--allowedTools",
        "mcp__fix,ToolSearch",
      ],
      env: {
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
      files: { "mcp.json": { mcpServers: { fix: server } } },
    }),
  };
}

/** The tables of Codex's configuration are TOML, whose strings and lists are JSON's. */
function codex(word: string, title: string, model: string): HarnessHost {
  return {
    word,
    title,
    version: "0.169.0",
    packages: { "codex-linux-x64": "npm:@openai/codex@0.169.0-linux-x64" },
    start: ({ folder, url, server }) => ({
      command: bin(folder, "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ASK],
      env: { FAKE_KEY: "none" },
      files: {
        ".codex/config.toml": `model = "${model}"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "${url}"
wire_api = "responses"
env_key = "FAKE_KEY"

[mcp_servers.fix]
command = ${JSON.stringify(server.command)}
args = ${JSON.stringify(server.args)}
required = true
`,
      },
    }),
  };
}

/** Models of an OpenCode: what they take, and by which API. */
function openCodeProvider({ origin, url }: HostSetup, npm: string, input: readonly string[]): object {
  const baseURL = npm === "@ai-sdk/anthropic" ? `${origin}/v1` : url;
  const model = {
    name: "fake",
    attachment: input.length > 1,
    tool_call: true,
    limit: { context: 2_000_000, output: 8000 },
    modalities: { input, output: ["text"] },
  };
  return { fake: { npm, name: "fake", options: { baseURL, apiKey: "none" }, models: { fake: model } } };
}

function openCode(word: string, title: string, npm: string, input: readonly string[]): HarnessHost {
  return {
    word,
    title,
    version: "1.18.33",
    packages: { "opencode-linux-x64-baseline": "1.18.33" },
    start: (setup) => ({
      command: bin(setup.folder, "opencode-linux-x64-baseline/bin/opencode"),
      args: ["run", "--model", "fake/fake", ASK],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      },
      files: {
        ".config/opencode/opencode.json": {
          autoupdate: false,
          share: "disabled",
          permission: { "*": "allow" },
          compaction: { auto: false, prune: false },
          provider: openCodeProvider(setup, npm, input),
          mcp: {
            fix: {
              type: "local",
              command: [setup.server.command, ...setup.server.args],
              enabled: true,
              timeout: 60_000,
            },
          },
        },
      },
    }),
  };
}

function gemini(): HarnessHost {
  return {
    word: "gemini",
    title: "Gemini CLI",
    version: "0.61.0",
    packages: { "@google/gemini-cli": "0.61.0" },
    start: ({ folder, node, origin, server }) => ({
      command: node,
      args: [
        bin(folder, "@google/gemini-cli/bundle/gemini.js"),
        "-p",
        ASK,
        "-y",
        "-m",
        "gemini-2.5-flash",
        "--skip-trust",
      ],
      env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: origin, GEMINI_CLI_NO_RELAUNCH: "true" },
      files: {
        ".gemini/settings.json": {
          general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
          mcpServers: { fix: { ...server, trust: true } },
        },
      },
    }),
  };
}

function qwen(word: string, title: string, modalities: object): HarnessHost {
  return {
    word,
    title,
    version: "0.24.4",
    packages: { "@qwen-code/qwen-code": "0.24.4" },
    hasNewerNode: true,
    start: ({ folder, node, url, server }) => ({
      command: node,
      args: [bin(folder, "@qwen-code/qwen-code/cli-entry.js"), "-p", ASK, "-y", "--auth-type", "openai"],
      env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: url, OPENAI_MODEL: "fake" },
      files: {
        ".qwen/settings.json": {
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          security: { folderTrust: { enabled: false } },
          model: { name: "fake", generationConfig: { modalities, contextWindowSize: 2_000_000 } },
          mcpServers: { fix: { ...server, trust: true } },
        },
      },
    }),
  };
}

/** All of them, in the order of the table. */
export const HOSTS: readonly HarnessHost[] = [
  claudeCode(),
  codex("codex", "Codex, tools in the list", "fake"),
  codex("codex-search", "Codex, tools behind a search", "gpt-5.5"),
  codex("codex-code", "Codex, code mode", "gpt-6.1-sol"),
  openCode("opencode", "OpenCode", "@ai-sdk/openai-compatible", ["text", "image"]),
  openCode("opencode-blind", "OpenCode, a model without eyes", "@ai-sdk/openai-compatible", ["text"]),
  openCode("opencode-anthropic", "OpenCode, Anthropic", "@ai-sdk/anthropic", ["text", "image", "pdf"]),
  gemini(),
  qwen("qwen", "Qwen Code, a model with eyes", { image: true, pdf: true }),
  qwen("qwen-text", "Qwen Code, a model for text", {}),
];
