/**
 * Servers that people use, with the places in their results that hold artifacts (ToolNode 2.1 "Popular MCP Servers";
 * RFC 0.3 §6 phase 4).
 * @module
 */
import { readRetention } from "../artifacts/retention/policy.js";
import { checkCoreConfig } from "../core/config-check.js";
import type { ToolFieldConfig } from "../core/config.js";
import { SluiceError } from "../errors/error.js";
import { nearest } from "../errors/nearest.js";
import { withoutDoor } from "../mcp/door-config.js";
import { readToolConfig, type ExternalToolConfig } from "./config.js";
import { ToolConfigError } from "./config/problem.js";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Presets that an error tells the names of. */
const MAX_TOLD = 50;

/** A column of `{"type": "Buffer", "data": […]}`. */
const bytea = (field_path: string): ToolFieldConfig => ({
  field_path,
  content_type: "binary data",
  summary_template: "bytea, {description}.",
});

const view: ToolFieldConfig = {
  field_path: "content.*.data",
  content_type: "view",
  summary_template: "View, {description}.",
};

const BUILT_IN: readonly ExternalToolConfig[] = [
  // A browser, looked into with the developer tools of Chrome. Starts a browser of its own without a window, and
  // tells its makers nothing.
  {
    name: "chrome-devtools",
    description: "Inspect pages: network, console, performance, screenshots",
    transport: "mcp",
    connection: "npx -y chrome-devtools-mcp --headless --isolated --no-usage-statistics --no-performance-crux",
    timeout_s: 60,
    artifact_extraction: {
      tool_fields: {
        take_screenshot: [
          { field_path: "content.*.data", content_type: "screenshot", summary_template: "Screenshot, {description}." },
        ],
      },
    },
  },
  // Files below one folder, by the reference server for them. Wants FILESYSTEM_ROOT, the folder that may be used.
  {
    name: "filesystem",
    description: "Read and write files in one folder",
    transport: "mcp",
    connection: "npx -y @modelcontextprotocol/server-filesystem ${FILESYSTEM_ROOT}",
    artifact_extraction: {
      tool_fields: {
        // The server sends the block a second time as structured content, where nothing says that it is bytes.
        read_media_file: [
          { field_path: "structuredContent.content.*.data", content_type: "media file" },
          { field_path: "structuredContent.content.*.resource.blob", content_type: "file" },
        ],
      },
    },
  },
  // GitHub as its own server offers it: repositories, issues, pull requests. Each user signs in; the provider in the
  // OAuthManager is `github`.
  {
    name: "github",
    description: "GitHub repositories, issues, pull requests",
    transport: "mcp",
    connection: "https://api.githubcopilot.com/mcp/",
    auth_type: "oauth2_user",
  },
  // Files of GitHub repositories, each stored whole: to be handed on to other tools instead of being read by a
  // model. Wants GITHUB_TOKEN, a token that may read the repositories.
  {
    name: "github-files",
    description: "Files of GitHub repositories, stored as artifacts",
    transport: "mcp",
    connection: "https://api.githubcopilot.com/mcp/x/repos/readonly",
    auth_type: "bearer",
    auth_config: { token: "${GITHUB_TOKEN}" },
    tool_filter: ["get_file_contents$", "search_code$"],
    artifact_extraction: {
      tool_fields: {
        // Files of bytes come as typed blocks, which are always stored; files of text only where they are long.
        get_file_contents: [
          {
            field_path: "content.*.resource.text",
            content_type: "file",
            summary_template: "File {uri}, {description}.",
          },
        ],
      },
    },
  },
  // Google Drive as its own server offers it. Each user signs in; the provider in the OAuthManager is
  // `google-drive`.
  {
    name: "google-drive",
    description: "Google Drive files and folders",
    transport: "mcp",
    connection: "https://drivemcp.googleapis.com/mcp/v1",
    auth_type: "oauth2_user",
    artifact_extraction: {
      tool_fields: {
        download_file_content: [
          { field_path: "content", content_type: "file", summary_template: "'{title}' from Drive, {description}." },
        ],
      },
    },
  },
  // A browser, driven by Playwright. Starts a browser of its own without a window, and forgets what it did.
  {
    name: "playwright",
    description: "Browse pages, click, type, take screenshots",
    transport: "mcp",
    connection: "npx -y @playwright/mcp --headless --isolated",
    timeout_s: 60,
    artifact_extraction: {
      tool_fields: {
        browser_take_screenshot: [
          { field_path: "content.*.data", content_type: "screenshot", summary_template: "Screenshot, {description}." },
        ],
      },
    },
  },
  // A PostgreSQL database, by DBHub: the reference server that ToolNode 2.1 names is no longer maintained, and lets
  // a statement behind `COMMIT;` out of its read-only transaction. Wants DATABASE_URL. Transactions are read-only
  // where a statement does not ask for another kind; what makes sure is a role that may only read.
  {
    name: "postgres",
    description: "Query PostgreSQL databases",
    transport: "mcp",
    connection: "npx -y @bytebase/dbhub --transport=stdio",
    env: {
      // Not an argument: those are shown to everybody on the machine, and the password is in it.
      DSN: "${DATABASE_URL}",
      // DBHub says of itself that it is read-only in a file alone; its driver hands this to the database.
      PGOPTIONS: "-c default_transaction_read_only=on",
    },
    // With the drivers of all databases it takes a while until it is fetched for the first time.
    timeout_s: 120,
    artifact_extraction: {
      tool_fields: {
        // The second is what versions before 1.0 answer, the last ones for Node 20.
        execute_sql: [bytea("data.statements.*.rows.*.*.data"), bytea("data.rows.*.*.data")],
      },
    },
  },
  // Slack as its own server offers it. Each user signs in; the provider in the OAuthManager is `slack`.
  {
    name: "slack",
    description: "Slack channels, messages, users",
    transport: "mcp",
    connection: "https://mcp.slack.com/mcp",
    auth_type: "oauth2_user",
  },
  // A SQLite database in a file. Wants SQLITE_FILE, the path of the database.
  {
    name: "sqlite",
    description: "Query and change a SQLite database",
    transport: "mcp",
    connection: "npx -y mcp-server-sqlite-npx ${SQLITE_FILE}",
    artifact_extraction: {
      tool_fields: {
        // A BLOB: a column of `{"type": "Buffer", "data": […]}`.
        read_query: [{ field_path: "*.*.data", content_type: "binary data", summary_template: "BLOB, {description}." }],
      },
    },
  },
  // Tableau Server and Tableau Cloud. Wants TABLEAU_SERVER, TABLEAU_SITE (empty for the default site),
  // TABLEAU_PAT_NAME and TABLEAU_PAT_VALUE.
  {
    name: "tableau",
    description: "Tableau workbooks, views and data sources",
    transport: "mcp",
    connection: "npx -y @tableau/mcp-server",
    env: {
      SERVER: "${TABLEAU_SERVER}",
      SITE_NAME: "${TABLEAU_SITE}",
      PAT_NAME: "${TABLEAU_PAT_NAME}",
      PAT_VALUE: "${TABLEAU_PAT_VALUE}",
      // Otherwise its makers are told of every call.
      PRODUCT_TELEMETRY_ENABLED: "false",
    },
    // Views are rendered when they are asked for.
    timeout_s: 120,
    artifact_extraction: {
      tool_fields: {
        "get-view-image": [view],
        "get-custom-view-image": [view],
        // Names and answers of RFC 0.3, Appendix B. Tableau's own server has no such tools: its download-workbook, off
        // unless it is asked for, answers with a path or a link.
        download_workbook: [
          {
            field_path: "content",
            content_type: "workbook",
            summary_template: "Workbook '{name}', {description}.",
          },
        ],
        get_view_as_pdf: [
          {
            field_path: "pdf_data",
            content_type: "pdf",
            mime_type: "application/pdf",
            summary_template: "View '{view_name}', {description}.",
          },
        ],
      },
    },
  },
];

/** Presets that are known by name. What it holds never changes once it is registered. */
export class PresetRegistry {
  readonly #presets = new Map<string, ExternalToolConfig>();

  /**
   * Starts with presets under the names of their sources.
   *
   * @throws ToolConfigError as `register` does; its path begins with the place in the list, such as `[2].connection`.
   */
  constructor(presets: readonly ExternalToolConfig[] = []) {
    for (const [at, preset] of presets.entries()) {
      checkPreset(preset, `[${at}]`);
      this.#add(preset.name, preset);
    }
  }

  /**
   * Adds a preset.
   *
   * @throws ToolConfigError E_TOOL_CONFIG where the name is taken or no name, or the configuration is wrong, with the path of
   * what is wrong in it.
   */
  register(name: string, config: ExternalToolConfig): void {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new ToolConfigError("", "A preset's name is 1 to 64 ASCII letters, digits, '-' and '_'.");
    }
    checkPreset(config, "");
    this.#add(name, config);
  }

  #add(name: string, config: ExternalToolConfig): void {
    if (this.#presets.has(name)) {
      throw new ToolConfigError("", `There is a preset ${name} already: register this one under another name.`);
    }
    this.#presets.set(name, frozen(config));
  }

  /**
   * A preset, to be used as it is or spread into another: `{ ...get("github"), name: "work" }`.
   *
   * @throws ToolConfigError E_TOOL_CONFIG that tells which presets there are.
   */
  get(name: string): ExternalToolConfig {
    const preset = this.#presets.get(name);
    if (preset !== undefined) return preset;
    throw this.#unknown(name);
  }

  /** All names, in the order of the alphabet. */
  names(): readonly string[] {
    return [...this.#presets.keys()].sort();
  }

  #unknown(name: string): ToolConfigError {
    const names = this.names();
    const meant = nearest(name.slice(0, 64).toLowerCase().replaceAll("_", "-"), names);
    const known = names.slice(0, MAX_TOLD).join(", ") + (names.length > MAX_TOLD ? ", …" : "");
    const remedy = meant === undefined ? `there are ${known}` : `did you mean ${meant}? There are ${known}`;
    return new ToolConfigError("", `There is no ${NAME.test(name) ? `preset ${name}` : "such preset"}: ${remedy}.`);
  }
}

/** Checks all that a ToolNode would check of it, but for variables, which only then have values. Throws ToolConfigError. */
function checkPreset(config: unknown, path: string): void {
  const { artifact_extraction: extraction } = readToolConfig(config, path);
  try {
    withoutDoor(extraction);
    if (extraction.retention !== undefined) readRetention(extraction.retention);
    checkCoreConfig(extraction);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const below = path === "" ? "artifact_extraction" : `${path}.artifact_extraction`;
    throw new ToolConfigError(`${below}.${error.path ?? ""}`, `In ${below}: ${error.message}`);
  }
}

/** A copy that nobody can change, down to the last list; functions stay what they are. */
function frozen<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, frozen(member)]))) as T;
}

/** A registry of its own with the presets that come with the library, for programs that share a process. */
export function builtInPresets(): PresetRegistry {
  return new PresetRegistry(BUILT_IN);
}

const presets = builtInPresets();

/** Adds a preset for the whole program. Throws ToolConfigError where the name is taken, or the configuration wrong. */
export function registerPreset(name: string, config: ExternalToolConfig): void {
  presets.register(name, config);
}

/** A preset by its name. Throws ToolConfigError that tells which there are. */
export function getPreset(name: string): ExternalToolConfig {
  return presets.get(name);
}

/** The names of all presets, in the order of the alphabet. */
export function presetNames(): readonly string[] {
  return presets.names();
}
