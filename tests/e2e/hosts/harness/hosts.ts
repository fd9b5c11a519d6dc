/**
 * The hosts: what is installed, how each is told of its model and of the server, and how it is started.
 * @module
 */
import { join } from "node:path";
import { LONG_NAME } from "./cases.js";
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
  /** The program, where the host is a library: a file of `agents/`, which runs beside its packages. */
  readonly agent?: string;
  /** Tools that the server leaves out, since the host refuses all for their names. */
  readonly without?: readonly string[];
  /** Whether it needs a newer Node than Sluice does. */
  readonly hasNewerNode?: true;
  /** Most cases of one run; all, unless a host forgets what came before. */
  readonly batch?: number;
  /** What `--host` says of it, where its client tells a name of its user's. */
  readonly hostOption?: string;
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
        "mcp__fix,ToolSearch,Read",
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

/** Configuration of OpenCode, and of Kilo, which is made of it. */
function openCodeConfig(setup: HostSetup, npm: string, input: readonly string[]): object {
  const command = [setup.server.command, ...setup.server.args];
  return {
    autoupdate: false,
    share: "disabled",
    permission: { "*": "allow" },
    compaction: { auto: false, prune: false },
    provider: openCodeProvider(setup, npm, input),
    mcp: { fix: { type: "local", command, enabled: true, timeout: 60_000 } },
  };
}

/** What keeps OpenCode and Kilo from asking for updates, models and plugins, by the prefix of their variables. */
function openCodeEnv(prefix: string): Readonly<Record<string, string>> {
  const switches = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"];
  return Object.fromEntries(switches.map((name) => [`${prefix}_DISABLE_${name}`, "1"]));
}

const COMPATIBLE = "@ai-sdk/openai-compatible";

function openCode(word: string, title: string, npm: string, input: readonly string[], env = {}): HarnessHost {
  return {
    word,
    title,
    version: "1.18.33",
    packages: { "opencode-linux-x64-baseline": "1.18.33" },
    start: (setup) => ({
      command: bin(setup.folder, "opencode-linux-x64-baseline/bin/opencode"),
      args: ["run", "--model", "fake/fake", ASK],
      env: { ...openCodeEnv("OPENCODE"), ...env },
      files: { ".config/opencode/opencode.json": openCodeConfig(setup, npm, input) },
    }),
  };
}

function kilo(): HarnessHost {
  return {
    word: "kilo",
    title: "Kilo",
    version: "7.7.7",
    packages: { "@kilocode/cli-linux-x64": "7.7.7" },
    start: (setup) => ({
      command: bin(setup.folder, "@kilocode/cli-linux-x64/bin/kilo"),
      args: ["run", "--auto", "--model", "fake/fake", ASK],
      env: openCodeEnv("KILO"),
      files: { ".config/kilo/kilo.json": openCodeConfig(setup, COMPATIBLE, ["text", "image"]) },
    }),
  };
}

function cline(): HarnessHost {
  return {
    word: "cline",
    title: "Cline CLI",
    version: "3.0.65",
    packages: { "@cline/cli-linux-x64": "3.0.65" },
    start: ({ folder, url, server }) => ({
      command: bin(folder, "@cline/cli-linux-x64/bin/cline"),
      args: ["--compaction", "off", "-P", "openai-compatible", "-m", "fake", ASK],
      files: {
        ".cline/data/settings/providers.json": {
          version: 1,
          lastUsedProvider: "openai-compatible",
          modes: {},
          providers: {
            "openai-compatible": {
              settings: { provider: "openai-compatible", apiKey: "none", model: "fake", baseUrl: url },
              updatedAt: "2026-01-01T00:00:00.000Z",
              tokenSource: "manual",
            },
          },
        },
        // Without `timeout`, in seconds, a server gets 3 s.
        ".cline/data/settings/cline_mcp_settings.json": {
          mcpServers: { fix: { transport: { type: "stdio", ...server }, timeout: 60 } },
        },
      },
    }),
  };
}

function continueCli(): HarnessHost {
  return {
    word: "continue",
    title: "Continue",
    version: "1.5.47",
    packages: { "@continuedev/cli": "1.5.47" },
    hasNewerNode: true,
    // It counts the tokens of everything before each request.
    batch: 8,
    start: ({ folder, node, url, server }) => ({
      command: node,
      args: [bin(folder, "@continuedev/cli/dist/cn.js"), "-p", ASK, "--auto", "--config", "config.yaml"],
      env: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_ENABLE_TELEMETRY: "0" },
      files: {
        // YAML takes JSON.
        "config.yaml": {
          name: "harness",
          version: "1.0.0",
          schema: "v1",
          models: [
            {
              name: "fake",
              provider: "openai",
              model: "gpt-4o",
              apiBase: url,
              apiKey: "none",
              roles: ["chat"],
              capabilities: ["tool_use", "image_input"],
              defaultCompletionOptions: { contextLength: 2_000_000, maxTokens: 4000 },
            },
          ],
          mcpServers: [{ name: "fix", ...server }],
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

function copilot(word: string, title: string, wireApi: string): HarnessHost {
  return {
    word,
    title,
    version: "1.0.102",
    packages: { "@github/copilot-linux-x64": "1.0.102" },
    start: ({ folder, url, server }) => ({
      command: bin(folder, "@github/copilot-linux-x64/copilot"),
      args: ["-p", ASK, "--allow-all-tools"],
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_BASE_URL: url,
        COPILOT_PROVIDER_WIRE_API: wireApi,
        COPILOT_PROVIDER_MODEL_ID: "gpt-5.4",
        COPILOT_PROVIDER_WIRE_MODEL: "fake",
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "2000000",
      },
      files: {
        ".copilot/mcp-config.json": { mcpServers: { fix: { type: "local", ...server, tools: ["*"] } } },
      },
    }),
  };
}

/** A library, in an agent of a few lines; `more` is for the agent. */
function library(
  host: Omit<HarnessHost, "start" | "hasNewerNode"> & { readonly agent: string },
  more: (setup: HostSetup) => object = () => ({}),
): HarnessHost {
  return {
    ...host,
    hasNewerNode: true,
    start: (setup) => ({
      command: setup.node,
      args: [join(setup.folder, host.agent)],
      env: {
        HARNESS: JSON.stringify({ url: setup.url, server: setup.server, ...more(setup) }),
        MASTRA_TELEMETRY_DISABLED: "1",
      },
      files: { "mcporter.json": { mcpServers: { fix: setup.server } } },
    }),
  };
}

const OPENAI_AGENTS = {
  version: "0.20.0",
  packages: { "@openai/agents": "0.20.0", openai: "7.2.0", zod: "4.6.7" },
  agent: "openai-agents.mjs",
};

/** Those that are libraries. */
export const LIBRARIES: readonly HarnessHost[] = [
  library({
    word: "ai-sdk",
    title: "AI SDK 7, `@ai-sdk/mcp`",
    version: "2.0.99",
    packages: { ai: "7.0.173", "@ai-sdk/mcp": "2.0.99", "@ai-sdk/openai-compatible": "3.0.92", zod: "4.6.7" },
    agent: "ai-sdk.mjs",
  }),
  library({
    word: "openai-agents",
    title: "OpenAI Agents, Responses, `--host`",
    ...OPENAI_AGENTS,
    hostOption: "openai-agents",
  }),
  library(
    {
      word: "openai-agents-chat",
      title: "OpenAI Agents, Chat Completions, `--host`",
      ...OPENAI_AGENTS,
      hostOption: "openai-agents-chat",
    },
    () => ({ mode: "chat" }),
  ),
  library({
    word: "langchain",
    title: "LangChain, `@langchain/mcp-adapters`",
    version: "1.1.4",
    packages: {
      "@langchain/core": "1.4.0",
      "@langchain/langgraph": "1.7.3",
      "@langchain/mcp-adapters": "1.1.4",
      "@langchain/openai": "1.5.8",
      langchain: "1.5.14",
    },
    agent: "langchain.mjs",
  }),
  library({
    word: "strands",
    title: "Strands",
    version: "1.19.0",
    packages: {
      "@strands-agents/sdk": "1.19.0",
      "@modelcontextprotocol/sdk": "1.32.2",
      openai: "6.49.0",
      zod: "4.6.7",
    },
    agent: "strands.mjs",
    without: ["dotted.name.tool", LONG_NAME],
  }),
  library({
    word: "mastra",
    title: "Mastra, `@mastra/mcp`, `--host`",
    hostOption: "mastra",
    version: "2.0.0",
    packages: { "@mastra/mcp": "2.0.0", "@mastra/core": "1.71.0", zod: "4.6.7" },
    agent: "mastra.mjs",
  }),
  library(
    {
      word: "mcporter",
      title: "a shell with `mcporter`",
      version: "0.12.3",
      packages: { mcporter: "0.12.3" },
      agent: "mcporter.mjs",
    },
    ({ folder }) => ({ command: bin(folder, "mcporter/dist/cli.js") }),
  ),
];

/** All of them, in the order of the table. */
export const HOSTS: readonly HarnessHost[] = [
  claudeCode(),
  codex("codex", "Codex, tools in the list", "fake"),
  codex("codex-search", "Codex, tools behind a search", "gpt-5.5"),
  codex("codex-code", "Codex, code mode", "gpt-6.1-sol"),
  openCode("opencode", "OpenCode", COMPATIBLE, ["text", "image"]),
  openCode("opencode-blind", "OpenCode, a model without eyes", COMPATIBLE, ["text"]),
  openCode("opencode-anthropic", "OpenCode, Anthropic", "@ai-sdk/anthropic", ["text", "image", "pdf"]),
  {
    ...openCode("opencode-code", "OpenCode, code mode, `--host`", COMPATIBLE, ["text", "image"], {
      OPENCODE_EXPERIMENTAL_CODE_MODE: "1",
    }),
    hostOption: "opencode-code",
  },
  gemini(),
  qwen("qwen", "Qwen Code, a model with eyes", { image: true, pdf: true }),
  qwen("qwen-text", "Qwen Code, a model for text", {}),
  cline(),
  kilo(),
  continueCli(),
  copilot("copilot", "Copilot CLI, Chat Completions", "completions"),
  copilot("copilot-responses", "Copilot CLI, Responses", "responses"),
  ...LIBRARIES,
];

/** Hosts that need a screen, an account or a server of their own: what is known of them is read. */
export const NOT_RUN: readonly { readonly title: string; readonly seen: string }[] = [
  { title: "Claude Desktop, Windsurf", seen: "nothing" },
  { title: "VS Code", seen: "release notes of 1.100; `mcpLanguageModelToolContribution.ts` at `027907cb`" },
  { title: "Cursor", seen: "its documentation, “Images as context”" },
  { title: "LibreChat", seen: "`packages/api/src/mcp/parsers.ts` at `001f16d8`" },
  { title: "Zed", seen: "`context_server_registry.rs` at `00400088`" },
  { title: "Goose", seen: "its documentation" },
];
