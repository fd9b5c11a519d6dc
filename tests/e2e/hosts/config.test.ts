/** The configuration that README and the page about hosts tell people to write. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "../../../web/src/cli/parse.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const SERVER = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"];
const PROXY = ["npx", "-y", "mcp-sluice", "proxy", "--", ...SERVER];

/** The fenced blocks of a page in one language. */
function blocks(page: string, language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\`$`, "gm"))].map(
    ([, text = ""]) => text,
  );
}

/** An entry of a host's configuration: the command alone, with its arguments, or as one list. */
interface Entry {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
}

/** The only server of a configuration, whatever the key that servers stand under. */
function serverIn(config: Readonly<Record<string, unknown>>): Entry {
  const [servers = {}] = Object.values(config).filter((value) => typeof value === "object");
  const [entry, ...others] = Object.values(servers as Readonly<Record<string, Entry>>);
  expect(others).toEqual([]);
  return entry as Entry;
}

/** The list of strings behind a key, in YAML's flow style or in TOML: both are JSON there. */
function list(block: string, key: string): readonly string[] {
  return JSON.parse(new RegExp(`^\\s*${key}\\s*[:=]\\s*(\\[.*\\])$`, "m").exec(block)?.[1] ?? "[]") as string[];
}

/** The word behind a key, in YAML or in TOML. */
function word(block: string, key: string): string | undefined {
  return new RegExp(`^\\s*${key}\\s*[:=]\\s*"?([^"\\s]+)"?$`, "m").exec(block)?.[1];
}

describe.each([
  ["README.md", 1],
  ["docs/hosts.md", 4],
])("%s", (page, count) => {
  const read = (): Promise<string> => readFile(join(ROOT, page), "utf8");

  test("has JSON that parses and starts the proxy in front of the server", async () => {
    const found = blocks(await read(), "json");
    expect(found).toHaveLength(count);
    for (const block of found) {
      const { command, args = [] } = serverIn(JSON.parse(block) as Readonly<Record<string, unknown>>);
      expect([command, args].flat()).toEqual(PROXY);
    }
  });

  test("tells Claude Code the same command", async () => {
    const lines = blocks(await read(), "sh").flatMap((block) => block.split("\n"));
    const told = lines.filter((line) => line.startsWith("claude mcp add"));
    expect(told).toEqual([`claude mcp add filesystem -- ${PROXY.join(" ")}`]);
  });
});

test("YAML and TOML start it too", async () => {
  const page = await readFile(join(ROOT, "docs/hosts.md"), "utf8");
  const found = [...blocks(page, "yaml"), ...blocks(page, "toml")];
  expect(found).toHaveLength(3);
  for (const block of found) {
    const command = word(block, "command") ?? word(block, "cmd");
    expect([command, ...list(block, "args")]).toEqual(PROXY);
  }
});

test("npx finds one command in the package, and that command takes the words behind it", async () => {
  const { name, bin } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    readonly name: string;
    readonly bin: Readonly<Record<string, string>>;
  };
  expect(name).toBe(PROXY[2]);
  expect(Object.keys(bin)).toHaveLength(1);
  const request = parse(PROXY.slice(3));
  expect(request.kind === "run" && request.invocation).toMatchObject({ operands: SERVER });
});
