/** Where each host keeps its configuration. */
import { expect, test } from "vitest";
import { HOSTS, type Machine } from "../../../../web/src/cli/install/hosts.js";

const MACHINES: Readonly<Record<string, Machine>> = {
  macOS: { platform: "darwin", home: "/Users/ada", env: {}, folder: "/Users/ada/work" },
  Windows: {
    platform: "win32",
    home: String.raw`C:\Users\ada`,
    env: { APPDATA: String.raw`C:\Users\ada\AppData\Roaming` },
    folder: String.raw`C:\work`,
  },
  Linux: { platform: "linux", home: "/home/ada", env: {}, folder: "/home/ada/work" },
};

/** By host: the first place on macOS, Windows and Linux. */
const PLACES: Readonly<Record<string, readonly [string, string, string | undefined]>> = {
  "claude-desktop": [
    "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
    String.raw`C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json`,
    undefined,
  ],
  "claude-code": ["/Users/ada/.claude.json", String.raw`C:\Users\ada\.claude.json`, "/home/ada/.claude.json"],
  vscode: [
    "/Users/ada/Library/Application Support/Code/User/mcp.json",
    String.raw`C:\Users\ada\AppData\Roaming\Code\User\mcp.json`,
    "/home/ada/.config/Code/User/mcp.json",
  ],
  cursor: ["/Users/ada/.cursor/mcp.json", String.raw`C:\Users\ada\.cursor\mcp.json`, "/home/ada/.cursor/mcp.json"],
  windsurf: [
    "/Users/ada/.codeium/windsurf/mcp_config.json",
    String.raw`C:\Users\ada\.codeium\windsurf\mcp_config.json`,
    "/home/ada/.codeium/windsurf/mcp_config.json",
  ],
  zed: [
    "/Users/ada/.config/zed/settings.json",
    String.raw`C:\Users\ada\AppData\Roaming\Zed\settings.json`,
    "/home/ada/.config/zed/settings.json",
  ],
  codex: ["/Users/ada/.codex/config.toml", String.raw`C:\Users\ada\.codex\config.toml`, "/home/ada/.codex/config.toml"],
  gemini: [
    "/Users/ada/.gemini/settings.json",
    String.raw`C:\Users\ada\.gemini\settings.json`,
    "/home/ada/.gemini/settings.json",
  ],
  opencode: [
    "/Users/ada/.config/opencode/opencode.json",
    String.raw`C:\Users\ada\.config\opencode\opencode.json`,
    "/home/ada/.config/opencode/opencode.json",
  ],
  qwen: [
    "/Users/ada/.qwen/settings.json",
    String.raw`C:\Users\ada\.qwen\settings.json`,
    "/home/ada/.qwen/settings.json",
  ],
  kilo: [
    "/Users/ada/.config/kilo/kilo.json",
    String.raw`C:\Users\ada\.config\kilo\kilo.json`,
    "/home/ada/.config/kilo/kilo.json",
  ],
  cline: [
    "/Users/ada/.cline/data/settings/cline_mcp_settings.json",
    String.raw`C:\Users\ada\.cline\data\settings\cline_mcp_settings.json`,
    "/home/ada/.cline/data/settings/cline_mcp_settings.json",
  ],
  continue: [
    "/Users/ada/.continue/config.yaml",
    String.raw`C:\Users\ada\.continue\config.yaml`,
    "/home/ada/.continue/config.yaml",
  ],
  crush: [
    "/Users/ada/.config/crush/crush.json",
    String.raw`C:\Users\ada\AppData\Local\crush\crush.json`,
    "/home/ada/.config/crush/crush.json",
  ],
  copilot: [
    "/Users/ada/.copilot/mcp-config.json",
    String.raw`C:\Users\ada\.copilot\mcp-config.json`,
    "/home/ada/.copilot/mcp-config.json",
  ],
  goose: [
    "/Users/ada/.config/goose/config.yaml",
    String.raw`C:\Users\ada\AppData\Roaming\Block\goose\config\config.yaml`,
    "/home/ada/.config/goose/config.yaml",
  ],
  librechat: ["/Users/ada/work/librechat.yaml", String.raw`C:\work\librechat.yaml`, "/home/ada/work/librechat.yaml"],
};

test.each(HOSTS.map((host) => [host.id, host] as const))("%s", (id, host) => {
  expect(Object.values(MACHINES).map((machine) => host.files(machine)[0])).toEqual(PLACES[id]);
});

test.each([
  ["claude-code", { CLAUDE_CONFIG_DIR: "/etc/claude" }, "/etc/claude/.claude.json"],
  ["codex", { CODEX_HOME: "/etc/codex" }, "/etc/codex/config.toml"],
  ["zed", { XDG_CONFIG_HOME: "/etc/xdg" }, "/etc/xdg/zed/settings.json"],
  ["zed", { XDG_CONFIG_HOME: "relative" }, "/home/ada/.config/zed/settings.json"],
  ["librechat", { CONFIG_PATH: "/etc/librechat.yaml" }, "/etc/librechat.yaml"],
  ["librechat", { CONFIG_PATH: "/etc/other.json" }, "/home/ada/work/librechat.yaml"],
])("%s with %j", (id, env, place) => {
  const host = HOSTS.find((each) => each.id === id);
  expect(host?.files({ ...(MACHINES["Linux"] as Machine), env })[0]).toBe(place);
});
