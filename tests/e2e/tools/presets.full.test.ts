import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makePng } from "../../../scripts/demo/png.mjs";
import { type ExternalToolConfig, getPreset, type ToolResult } from "../../../web/src/tools-node.js";
import { toVariables } from "../../../web/src/tools/config/variables.js";
import { FILES, useFolder } from "../servers/folder.js";
import { pngSize, servePage } from "../servers/page.js";
import { devtools, filesystem, playwright, type Server, sqlite } from "../servers/programs.js";
import { bytesOf, type Fronted, inFront, kept, seen, type Seen, startOf } from "./in-front.js";

/** Presets in front of the servers that they are for: connected as they say, and what they say of results holds. */
describe("presets", () => {
  const folder = useFolder();

  /** So small that it would stay where it is, were it not said that it is a file. */
  const TINY = makePng({ width: 4, height: 3 });

  /** What a preset's connection begins with where it fetches its server. */
  const FETCHED = /^npx -y [^ ]+/;

  /**
   * A preset with its own arguments for the installed server, whose first argument is its script.
   *
   * @param more arguments that only this machine needs, such as where its browser is.
   */
  function installed(name: string, { command, args: [script = ""] }: Server, more: string[] = []): ExternalToolConfig {
    const preset = getPreset(name);
    expect(preset.connection).toMatch(FETCHED);
    const { connection } = startOf({ command, args: [script], cwd: "" });
    return { ...preset, connection: [preset.connection.replace(FETCHED, () => connection), ...more].join(" ") };
  }

  /** Opens it as it is, and without what it says of results. */
  async function both(
    config: ExternalToolConfig,
    variables: Readonly<Record<string, string>>,
    use: (front: Fronted) => Promise<ToolResult>,
  ): Promise<{ readonly with: string; readonly without: string }> {
    const texts: string[] = [];
    for (const each of [config, { ...config, artifact_extraction: {} }]) {
      await using front = await inFront(each, { variables: toVariables(variables) });
      texts.push((await use(front)).text);
    }
    const [first = "", second = ""] = texts;
    return { with: first, without: second };
  }

  const files = (): ExternalToolConfig => installed("filesystem", filesystem(folder.path()));
  const filesRoot = (): Record<string, string> => ({ FILESYSTEM_ROOT: folder.path() });

  // Compiled by `npm run setup`, where there is what that takes.
  const isBuilt = existsSync(
    fileURLToPath(new URL("../node_modules/sqlite3/build/Debug/node_sqlite3.node", import.meta.url)),
  );

  /** Servers that start without an account, and values for the variables of all of them. */
  const HERE = { "chrome-devtools": devtools, filesystem, playwright, ...(isBuilt && { sqlite }) };
  const made = (): Record<string, string> => ({ ...filesRoot(), SQLITE_FILE: folder.path("made.db") });

  test.each(Object.entries(HERE))("%s: its server has every tool that the preset names", async (name, server) => {
    const preset = installed(name, server(folder.path()));
    await using front = await inFront(preset, { variables: toVariables(made()) });
    const named = Object.keys(preset.artifact_extraction?.tool_fields ?? {}).map((tool) => `${name}.${tool}`);
    expect(named).not.toEqual([]);
    expect(front.node.getTools().map((tool) => tool.name)).toEqual(expect.arrayContaining(named));
  });

  describe("filesystem", () => {
    test("small files too are kept out of both halves of a result", async () => {
      await writeFile(folder.path("tiny.png"), TINY);
      const shown = await both(files(), filesRoot(), (front) =>
        front.call("read_media_file", { path: folder.path("tiny.png") }),
      );
      const base64 = TINY.toString("base64");
      expect([shown.with.includes(base64), shown.without.includes(base64)]).toEqual([false, true]);
    });

    test("files are kept whole, and called what they are", async () => {
      await using front = await inFront(files(), { variables: toVariables(filesRoot()) });
      for (const [name, original] of Object.entries(FILES)) {
        const result = await front.call("read_media_file", { path: folder.path(name) });
        expect(await seen(front, result)).toEqual(kept(original));
      }
      const noise = await front.call("read_media_file", { path: folder.path("noise.bin") });
      expect(noise.text).toContain('"summary":"file, 39.1 KB"');
    });
  });

  test.skipIf(!isBuilt)("sqlite: a BLOB is called one, and is stored however small", async () => {
    let number = 0;
    const looks: Seen[] = [];
    const bytes = Buffer.from([1, 2, 3, 4, 5]);
    const shown = await both(
      installed("sqlite", sqlite(folder.path())),
      { SQLITE_FILE: folder.path("preset.db") },
      async (front) => {
        const table = `files${(number += 1)}`;
        await front.call("create_table", { query: `CREATE TABLE ${table} (name TEXT, content BLOB)` });
        await front.call("write_query", { query: `INSERT INTO ${table} VALUES ('a', X'${bytes.toString("hex")}')` });
        const result = await front.call("read_query", { query: `SELECT * FROM ${table}` });
        looks.push(await seen(front, result));
        return result;
      },
    );
    expect(looks[0]).toEqual(kept(bytes));
    expect(shown.with).toContain('"summary":"BLOB, binary data, 5 B."');
    expect(shown.without).not.toContain("BLOB");
  });

  /** What is said of a screenshot of a page, by a server whose browser is where it is here. */
  async function screenshot(
    config: ExternalToolConfig,
    take: (front: Fronted, url: string) => Promise<ToolResult>,
  ): Promise<string> {
    await using page = await servePage();
    await using front = await inFront(config);
    const result = await take(front, page.url);
    const original = await bytesOf(front, result);
    expect(await seen(front, result)).toEqual(kept(original));
    expect(pngSize(original).width).toBeGreaterThan(300);
    return result.text;
  }

  const SCREENSHOT = /"summary":"Screenshot, PNG image, [\d,]+ × [\d,]+, /;

  const quoted = (argument: string): string => `"${argument}"`;

  test("playwright: a screenshot is called one", async () => {
    const server = playwright(folder.path());
    const here = server.args.filter((argument) => /^--(?:no-sandbox|executable-path)/.test(argument));
    const more = [...here, `--output-dir=${folder.path()}`].map(quoted);
    const said = await screenshot(installed("playwright", server, more), async (front, url) => {
      await front.call("browser_navigate", { url });
      const result = await front.call("browser_take_screenshot", { type: "png" });
      const [, saved = ""] = /\]\(([^)]+\.png)\)/.exec(result.text) ?? [];
      expect(await bytesOf(front, result)).toEqual(await readFile(folder.path(saved.split("/").pop())));
      return result;
    });
    expect(said).toMatch(SCREENSHOT);
  });

  test("chrome-devtools: a screenshot is called one", async () => {
    const server = devtools(folder.path());
    const here = server.args.filter((argument) => /^--(?:chromeArg|executablePath)/.test(argument)).map(quoted);
    const said = await screenshot(installed("chrome-devtools", server, here), async (front, url) => {
      const opened = await front.call("new_page", { url });
      const pageId = Number(/(\d+): [^\n]*\[selected\]/.exec(opened.value as string)?.[1]);
      return front.call("take_screenshot", { pageId });
    });
    expect(said).toMatch(SCREENSHOT);
  });
});
