/**
 * Configurations of each host, as its documentation writes them and as people keep them: with comments, keys of other
 * features, odd spaces, and secrets.
 */

/** Every secret in the configurations below begins with this. */
export const SECRET = "s3cr3t";

/** A host's configuration in a made-up home folder. */
export interface Sample {
  readonly host: string;
  /** Below the home folder, on Linux; Claude Desktop has none there, and gets the one of macOS. */
  readonly place: string;
  readonly platform: NodeJS.Platform;
  readonly text: string;
  /** The servers that Sluice is put in front of. */
  readonly servers: readonly string[];
  /** The others, with a part of the reason. */
  readonly skipped: Readonly<Record<string, RegExp>>;
  /** Texts that stay: comments, and what is not a server. */
  readonly stays: readonly string[];
}

const NO_HEADERS = /has no headers, so the host may sign in/;
const EVENTS = /older transport/;

export const SAMPLES: readonly Sample[] = [
  {
    host: "claude-desktop",
    platform: "darwin",
    place: "Library/Application Support/Claude/claude_desktop_config.json",
    text: `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/ada/Desktop"
      ]
    },
    "brave-search": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "BRAVE_API_KEY", "mcp/brave-search"],
      "env": { "BRAVE_API_KEY": "${SECRET}-brave" }
    }
  }
}
`,
    servers: ["filesystem", "brave-search"],
    skipped: {},
    stays: ['"globalShortcut": "Ctrl+Space"', `"env": { "BRAVE_API_KEY": "${SECRET}-brave" }`],
  },
  {
    host: "claude-code",
    platform: "linux",
    place: ".claude.json",
    text: `{
  "numStartups": 42,
  "oauthAccount": {
    "accountUuid": "${SECRET}-account"
  },
  "mcpServers": {
    "airtable": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "airtable-mcp-server"
      ],
      "env": {
        "AIRTABLE_API_KEY": "${SECRET}-airtable"
      }
    },
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": {
        "Authorization": "Bearer ${SECRET}-github"
      }
    },
    "sentry": {
      "type": "http",
      "url": "https://mcp.sentry.dev/mcp"
    },
    "asana": {
      "type": "sse",
      "url": "https://mcp.asana.com/sse"
    }
  },
  "projects": {
    "/home/ada/work": {
      "allowedTools": [],
      "history": [],
      "mcpServers": {
        "time": {
          "type": "stdio",
          "command": "uvx",
          "args": [],
          "env": {}
        }
      },
      "hasTrustDialogAccepted": true
    }
  }
}`,
    servers: ["airtable", "github", "time"],
    skipped: { sentry: NO_HEADERS, asana: EVENTS },
    stays: ['"numStartups": 42', '"hasTrustDialogAccepted": true', `"accountUuid": "${SECRET}-account"`],
  },
  {
    host: "vscode",
    platform: "linux",
    place: ".config/Code/User/mcp.json",
    text: `{
\t// Asked for once, and kept by VS Code.
\t"inputs": [
\t\t{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true }
\t],
\t"servers": {
\t\t/* searches */
\t\t"perplexity": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "server-perplexity-ask"], // the one of the makers
\t\t\t"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" },
\t\t},
\t\t"remote": {
\t\t\t"type": "http",
\t\t\t"url": "https://mcp.example.com/mcp?key=${SECRET}-query", // a key in the address
\t\t\t"headers": { "X-Key": "${SECRET}-header", "X-Other": "\${input:perplexity-key}" }
\t\t},
\t\t"github": { "type": "http", "url": "https://api.githubcopilot.com/mcp" },
\t},
}
`,
    servers: ["perplexity", "remote"],
    skipped: { github: NO_HEADERS },
    stays: [
      "// Asked for once",
      "/* searches */",
      "// the one of the makers",
      "// a key in the address",
      '"inputs": [',
    ],
  },
  {
    host: "cursor",
    platform: "linux",
    place: ".cursor/mcp.json",
    text: `{"mcpServers":{"files":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/data"]},"docs":{"url":"https://docs.example.com/mcp","headers":{"Authorization":"Bearer ${SECRET}-docs"}},"linear":{"url":"https://mcp.linear.app/mcp","auth":{"CLIENT_ID":"x"}}}}`,
    servers: ["files", "docs"],
    skipped: { linear: /its "auth" makes the host sign in/ },
    stays: [],
  },
  {
    host: "windsurf",
    platform: "linux",
    place: ".codeium/windsurf/mcp_config.json",
    text: `{
  "mcpServers": {
    "github": {
      "serverUrl": "https://api.githubcopilot.com/mcp/",
      "headers": {
        "Authorization": "Bearer ${SECRET}-github"
      },
      "disabledTools": ["delete_repository"]
    },
    "zapier": {
      "serverUrl": "https://actions.zapier.com/mcp/${SECRET}-zapier/sse"
    },
    "git": {
      "command": "py",
      "args": ["-m", "mcp_server_git"],
      "disabled": true,
      "env": {}
    }
  }
}
`,
    servers: ["github", "git"],
    skipped: { zapier: EVENTS },
    stays: ['"disabledTools": ["delete_repository"]', '"disabled": true', '"env": {}'],
  },
  {
    host: "zed",
    platform: "linux",
    place: ".config/zed/settings.json",
    text: `// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "vim_mode": true,
  "context_servers": {
    "local-mcp-server": {
      "command": "some-command",
      "args": ["arg-1", "arg-2"],
      "env": {}
    },
    // with a key
    "remote-mcp-server": {
      "url": "https://example.com/mcp",
      "headers": { "Authorization": "Bearer ${SECRET}-zed" },
    },
    "remote-mcp-server-with-oauth": {
      "url": "https://mcp.example.com/mcp",
    },
    "older": { "command": { "path": "node", "args": ["x.js"] } },
    "of-an-extension": { "settings": { "key": "${SECRET}-extension" } },
  },
  "theme": { "mode": "system", "light": "One Light", "dark": "One Dark" }, // the usual
}
`,
    servers: ["local-mcp-server", "remote-mcp-server"],
    skipped: { "remote-mcp-server-with-oauth": NO_HEADERS, older: /written in a way that Sluice does not know/ },
    stays: ["// Zed settings", "// with a key", "// the usual", '"vim_mode": true'],
  },
  {
    host: "codex",
    platform: "linux",
    place: ".codex/config.toml",
    text: `# ~/.codex/config.toml
model = "gpt-5.5"          # the model
approval_policy = 'on-request'

[projects."/home/ada/work"]
trust_level = "trusted"

# files
[mcp_servers.filesystem]
command = "npx"            # of Node
args = [
  "-y",                    # without a question
  "@modelcontextprotocol/server-filesystem",
  "/data",
]
startup_timeout_sec = 20
enabled_tools = ["read_file"] # one of many

[mcp_servers.filesystem.env]
API_KEY = "${SECRET}-env"

[mcp_servers.catalog]
url = "https://catalog.example.test/mcp"
http_headers = { "X-Client" = "${SECRET}-client", Authorization = "Bearer ${SECRET}-bearer" }
enabled = true

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"

[mcp_servers.bare]
command = "uvx"

[tui]
notifications = true # at the end
`,
    servers: ["filesystem", "catalog", "bare"],
    skipped: { figma: /its "bearer_token_env_var" makes the host sign in/ },
    stays: [
      "# the model",
      "# files",
      "# of Node",
      "# without a question",
      "startup_timeout_sec = 20",
      "# one of many",
      "# at the end",
    ],
  },
  {
    host: "gemini",
    platform: "linux",
    place: ".gemini/settings.json",
    text: `{
  "selectedAuthType": "gemini-api-key",
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": [
        "mcp-server-git"
      ]
    },
    "github": {
      "httpUrl": "https://api.githubcopilot.com/mcp/",
      "headers": {
        "Authorization": "Bearer ${SECRET}-github"
      },
      "timeout": 5000
    },
    "events": { "url": "https://example.com/events", "headers": { "X-Key": "${SECRET}-events" } },
    "typed": { "url": "https://example.com/mcp", "type": "http", "headers": { "X-Key": "$EXAMPLE_KEY" }, "trust": true }
  }
}
`,
    servers: ["git", "github", "typed"],
    skipped: { events: EVENTS },
    stays: ['"timeout": 5000', '"trust": true', '"selectedAuthType": "gemini-api-key"'],
  },
  {
    host: "qwen",
    platform: "linux",
    place: ".qwen/settings.json",
    text: `{
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": ["mcp-server-git"],
      "includeTools": [
        "git_log", // the one that is used
        "git_diff"
      ],
      "timeout": 30000
    },
    "docs": { "httpUrl": "https://docs.example.com/mcp", "headers": { "X-Key": "${SECRET}-docs" } }
  }
}
`,
    servers: ["git", "docs"],
    skipped: {},
    stays: ["// the one that is used", '"timeout": 30000'],
  },
  {
    host: "opencode",
    platform: "linux",
    place: ".config/opencode/opencode.jsonc",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // of version 1
    "everything": {
      "type": "local",
      "command": ["npx", "-y", "@modelcontextprotocol/server-everything"],
      "enabled": true,
      "environment": { "MY_ENV_VAR": "${SECRET}-env" }, // a key
    },
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": true },
    "context7": {
      "type": "remote",
      "url": "https://mcp.context7.com/mcp",
      "headers": { "CONTEXT7_API_KEY": "{env:CONTEXT7_API_KEY}" },
    },
    "off": { "enabled": false },
    // of version 2
    "servers": {
      "my-server": {
        "type": "local",
        "command": ["bunx", "my-server"],
        "cwd": ".",
      },
    },
  },
}
`,
    servers: ["everything", "context7", "my-server"],
    skipped: { jira: NO_HEADERS },
    stays: ["// of version 1", "// of version 2", "// a key", '"off": { "enabled": false }', '"cwd": "."'],
  },
  {
    host: "kilo",
    platform: "linux",
    place: ".config/kilo/kilo.json",
    text: `{
  "mcp": {
    "everything": { "type": "local", "command": ["npx", "-y", "@modelcontextprotocol/server-everything"], "enabled": true },
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": true }
  }
}
`,
    servers: ["everything"],
    skipped: { jira: NO_HEADERS },
    stays: ['"enabled": true'],
  },
  {
    host: "cline",
    platform: "linux",
    place: ".cline/data/settings/cline_mcp_settings.json",
    text: `{
  "mcpServers": {
    "fix": {
      "transport": {
        "type": "stdio",
        "command": "node",
        "args": [
          "server.mjs"
        ]
      },
      "autoApprove": []
    },
    "patient": {
      "command": "uvx",
      "args": ["slow"],
      "timeout": 300
    }
  }
}
`,
    servers: ["fix", "patient"],
    skipped: {},
    stays: ['"autoApprove": []', '"timeout": 300'],
  },
  {
    host: "continue",
    platform: "linux",
    place: ".continue/config.yaml",
    text: `name: Local Assistant
version: 1.0.0
schema: v1
mcpServers:
  # files of the work
  - name: filesystem
    command: npx
    args:
      - -y # without a question
      - "@modelcontextprotocol/server-filesystem"
    env:
      API_KEY: ${SECRET}-env
  - name: browser
    command: uvx
    args: ["browser"]
  - name: docs
    type: streamable-http
    url: https://docs.example.com/mcp
context: [] # at the end
`,
    servers: ["filesystem", "browser"],
    skipped: { docs: NO_HEADERS },
    stays: ["# files of the work", "# without a question", "# at the end"],
  },
  {
    host: "crush",
    platform: "linux",
    place: ".config/crush/crush.json",
    text: `{
  "$schema": "https://charm.land/crush.json",
  "mcp": {
    "filesystem": { "type": "stdio", "command": "node", "args": ["server.js"], "timeout": 120, "disabled_tools": ["move"] },
    "github": { "type": "http", "url": "https://example.com/mcp/", "headers": { "Authorization": "$(echo Bearer $TOKEN)" } },
    "events": { "type": "sse", "url": "https://example.com/mcp/sse" }
  }
}
`,
    servers: ["filesystem", "github"],
    skipped: { events: EVENTS },
    stays: ['"timeout": 120', '"disabled_tools": ["move"]'],
  },
  {
    host: "copilot",
    platform: "linux",
    place: ".copilot/mcp-config.json",
    text: `{
  "mcpServers": {
    "playwright": { "type": "local", "command": "npx", "args": ["@playwright/mcp@latest"], "tools": ["*"], "env": {} },
    "context7": {
      "type": "http",
      "url": "https://mcp.context7.com/mcp",
      "headers": { "CONTEXT7_API_KEY": "${SECRET}-key" },
      "tools": ["get-library-docs"]
    }
  }
}
`,
    servers: ["playwright", "context7"],
    skipped: {},
    stays: ['"tools": ["*"]', '"env": {}'],
  },
  {
    host: "goose",
    platform: "linux",
    place: ".config/goose/config.yaml",
    text: `GOOSE_PROVIDER: anthropic # who answers
GOOSE_MODEL: claude-sonnet-4-5
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  # files of the work
  filesystem:
    # read and write
    args:
    - -y # without a question
    - '@modelcontextprotocol/server-filesystem'
    - /data
    cmd: npx     # of Node
    description: Files
    enabled: true
    env_keys: []
    envs:
      API_KEY: ${SECRET}-env
    name: filesystem
    timeout: 300
    type: stdio
  time: {type: stdio, cmd: uvx, args: [mcp-server-time], enabled: true}
  bare:
    type: stdio
    cmd: mcp-bare
  catalog:
    enabled: true
    type: streamable_http
    name: catalog
    uri: https://catalog.example.test/mcp
    envs: {}
    env_keys: []
    headers:
      Authorization: Bearer ${SECRET}-bearer
      X-Client: '${SECRET}-client'
    timeout: 300

  keyring:
    enabled: true
    type: streamable_http
    name: keyring
    uri: https://example.test/mcp
    headers:
      Authorization: Bearer $EXAMPLE_TOKEN
  events:
    type: sse
    uri: https://example.test/sse
    headers: { X-Key: ${SECRET}-events }
GOOSE_MODE: auto # at the end
`,
    servers: ["filesystem", "time", "bare", "catalog"],
    skipped: { keyring: /fills in its headers/, events: EVENTS },
    stays: [
      "# who answers",
      "# files of the work",
      "# read and write",
      "# without a question",
      "# of Node",
      "# at the end",
    ],
  },
  {
    host: "librechat",
    platform: "linux",
    place: "librechat.yaml",
    text: `version: 1.2.8
cache: true
mcpServers:
  everything:
    # type: sse # type can optionally be omitted
    url: http://localhost:3001/sse
  puppeteer:
    type: stdio
    command: npx
    args:
      - -y
      - "@modelcontextprotocol/server-puppeteer"
    serverInstructions: "Do not access any local files or local/internal IP addresses"
  filesystem:
    # type: stdio
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/user/LibreChat/"]
    iconPath: /home/user/LibreChat/client/public/assets/logo.svg
  streamable-http-server:
    type: streamable-http
    url: https://example.com/api/
    headers:
      X-API-Key: "${SECRET}-key"
      X-Other: "\${SOME_API_KEY}"
    timeout: 60000 # a minute
  of-each-user:
    type: streamable-http
    url: https://example.com/api/
    headers:
      X-User-ID: "{{LIBRECHAT_USER_ID}}"
  signs-in:
    type: streamable-http
    url: https://example.com/mcp
    requiresOAuth: true
endpoints:
  custom: [] # none
`,
    servers: ["puppeteer", "filesystem", "streamable-http-server"],
    skipped: {
      everything: EVENTS,
      "of-each-user": /fills in its headers/,
      "signs-in": /its "requiresOAuth" makes the host sign in/,
    },
    stays: ["# type: sse", "# type: stdio", "# a minute", "# none", 'serverInstructions: "Do not access'],
  },
];
