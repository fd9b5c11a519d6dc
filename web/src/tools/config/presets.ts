/**
 * Configurations of popular MCP servers, with the places of artifacts in their results.
 * @module
 */
import { readRetention } from "../../artifacts/retention/policy.js";
import { checkCoreConfig } from "../../config/check.js";
import type { ToolFieldConfig } from "../../config/types.js";
import { SluiceError } from "../../errors/error.js";
import { nearest } from "../../errors/arguments.js";
import { withoutInterceptor } from "../../mcp/interceptor-config.js";
import { readToolConfig, type ExternalToolConfig } from "./config.js";
import { ToolConfigError } from "../errors.js";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Maximum number of presets listed in an error. */
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
  // Chrome's developer tools. Starts a headless browser of its own, with telemetry off.
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
  // Files in one folder, by the reference server. Requires FILESYSTEM_ROOT, the folder.
  {
    name: "filesystem",
    description: "Read and write files in one folder",
    transport: "mcp",
    connection: "npx -y @modelcontextprotocol/server-filesystem ${FILESYSTEM_ROOT}",
    artifact_extraction: {
      tool_fields: {
        // The server repeats the block as structured content, where nothing says that it is binary.
        read_media_file: [
          { field_path: "structuredContent.content.*.data", content_type: "media file" },
          { field_path: "structuredContent.content.*.resource.blob", content_type: "file" },
        ],
      },
    },
  },
  // GitHub's own server. Each user signs in; the provider in the OAuthManager is `github`.
  {
    name: "github",
    description: "GitHub repositories, issues, pull requests",
    transport: "mcp",
    connection: "https://api.githubcopilot.com/mcp/",
    auth_type: "oauth2_user",
  },
  // Files of GitHub repositories, stored whole, to be passed to other tools rather than read by a model. Requires
  // GITHUB_TOKEN, a token that may read the repositories.
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
        // Binary files are typed blocks, which are always stored. This stores text files that are long.
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
  // Google Drive's own server. Each user signs in; the provider in the OAuthManager is `google-drive`.
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
  // A browser driven by Playwright, headless and with a temporary profile.
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
  // PostgreSQL, by DBHub: the reference server is unmaintained, and lets a statement after `COMMIT;` escape its
  // read-only transaction. Requires DATABASE_URL. Transactions are read-only by default, but a statement can change
  // that; use a role that may only read.
  {
    name: "postgres",
    description: "Query PostgreSQL databases",
    transport: "mcp",
    connection: "npx -y @bytebase/dbhub --transport=stdio",
    env: {
      // Not an argument, since every user of the machine can see arguments, and this contains the password.
      DSN: "${DATABASE_URL}",
      // DBHub can be set to read-only only in a file, so the driver passes this to the database.
      PGOPTIONS: "-c default_transaction_read_only=on",
    },
    // The first download takes a while, since it includes the drivers of all databases.
    timeout_s: 120,
    artifact_extraction: {
      tool_fields: {
        // The second is the format of versions before 1.0, the last ones for Node 20.
        execute_sql: [bytea("data.statements.*.rows.*.*.data"), bytea("data.rows.*.*.data")],
      },
    },
  },
  // Slack's own server. Each user signs in; the provider in the OAuthManager is `slack`.
  {
    name: "slack",
    description: "Slack channels, messages, users",
    transport: "mcp",
    connection: "https://mcp.slack.com/mcp",
    auth_type: "oauth2_user",
  },
  // A SQLite database. Requires SQLITE_FILE, the path of the database.
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
  // Tableau Server and Tableau Cloud. Requires TABLEAU_SERVER, TABLEAU_SITE (empty for the default site),
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
      // Telemetry would report every call.
      PRODUCT_TELEMETRY_ENABLED: "false",
    },
    // Views are rendered on request, which takes time.
    timeout_s: 120,
    artifact_extraction: {
      tool_fields: {
        "get-view-image": [view],
        "get-custom-view-image": [view],
        // Tools of other Tableau servers. Tableau's own has a download-workbook instead, off by default, which
        // answers with a path or a link.
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

/** Presets by name. Registered presets cannot be changed. */
export class PresetRegistry {
  readonly #presets = new Map<string, ExternalToolConfig>();

  /**
   * Registers presets under the names of their sources.
   *
   * @throws ToolConfigError like `register`, with a path that starts with the index, such as `[2].connection`.
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
   * @throws ToolConfigError E_TOOL_CONFIG if the name is taken or invalid, or the configuration is wrong, with the
   *   path of the wrong key.
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
      throw new ToolConfigError("", `There is already a preset ${name}: register this one under another name.`);
    }
    this.#presets.set(name, frozen(config));
  }

  /**
   * Returns a preset, to use as it is or to spread: `{ ...get("github"), name: "work" }`.
   *
   * @throws ToolConfigError E_TOOL_CONFIG that lists the presets.
   */
  get(name: string): ExternalToolConfig {
    const preset = this.#presets.get(name);
    if (preset !== undefined) return preset;
    throw this.#unknown(name);
  }

  /** All names, sorted. */
  names(): readonly string[] {
    return [...this.#presets.keys()].sort();
  }

  #unknown(name: string): ToolConfigError {
    const names = this.names();
    const meant = nearest(name.slice(0, 64).toLowerCase().replaceAll("_", "-"), names);
    const known = names.slice(0, MAX_TOLD).join(", ") + (names.length > MAX_TOLD ? ", …" : "");
    const remedy = meant === undefined ? `the presets are ${known}` : `did you mean ${meant}? The presets are ${known}`;
    return new ToolConfigError("", `There is no ${NAME.test(name) ? `preset ${name}` : "such preset"}: ${remedy}.`);
  }
}

/** Checks everything that a ToolNode checks, except variables. Throws ToolConfigError. */
function checkPreset(config: unknown, path: string): void {
  const { artifact_extraction: extraction } = readToolConfig(config, path);
  try {
    withoutInterceptor(extraction);
    if (extraction.retention !== undefined) readRetention(extraction.retention);
    checkCoreConfig(extraction);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const below = path === "" ? "artifact_extraction" : `${path}.artifact_extraction`;
    throw new ToolConfigError(`${below}.${error.path ?? ""}`, `In ${below}: ${error.message}`);
  }
}

/** A deep-frozen copy. Functions are kept as they are. */
function frozen<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, frozen(member)]))) as T;
}

/** A new registry with the built-in presets, for programs that share a process. */
export function createBuiltInPresets(): PresetRegistry {
  return new PresetRegistry(BUILT_IN);
}

const presets = createBuiltInPresets();

/** Adds a preset for the whole process. Throws ToolConfigError if the name is taken or the configuration is wrong. */
export function registerPreset(name: string, config: ExternalToolConfig): void {
  presets.register(name, config);
}

/** Returns a preset by name. Throws ToolConfigError that lists the presets. */
export function getPreset(name: string): ExternalToolConfig {
  return presets.get(name);
}

/** The names of all presets, sorted. */
export function presetNames(): readonly string[] {
  return presets.names();
}
