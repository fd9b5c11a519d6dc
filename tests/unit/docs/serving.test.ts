/** What the pages show of `sluice serve` is what it takes: configurations, command lines, limits. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import stringArgv from "string-argv";
import { describe, expect, test } from "vitest";
import { readRetention } from "../../../web/src/artifacts/retention/policy.js";
import { parse } from "../../../web/src/cli/parse.js";
import { checkServeFile, serveKeys } from "../../../web/src/cli/serve/config-file.js";
import { LEASE_SECONDS } from "../../../web/src/server/work/work-register.js";
import { toSaidError } from "../../../web/src/server/http/refusals.js";
import { LIMITS } from "../../../web/src/server/options.js";
import { LEASE_MS } from "../../../web/src/server/usage/usage-register.js";
import { USER_LIMIT_NAMES, USER_LIMITS, UserLimitReached } from "../../../web/src/server/usage/user-limits.js";
import { checkSources } from "../../../web/src/tools/config/sources-file.js";
import { ROOT } from "../cli/command.js";
import { EVERYTHING, serve } from "../cli/serve/serving.js";

describe("the pages on serving", async () => {
  const names = (await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md"));
  const paths = ["README.md", ...names.map((name) => `docs/${name}`)];
  const pages = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(ROOT, path), "utf8")] as const)),
  );
  const serving = pages.get("docs/serving.md") ?? "";

  /** Every variable that is asked for has a value that is long enough for a token. */
  const ENV = new Proxy({}, { get: () => "a-value-of-some-length" }) as NodeJS.ProcessEnv;

  /** The texts between backquotes of a page, those of blocks apart. */
  function spans(text: string): readonly string[] {
    return [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
  }

  /** The configurations that the page of serving shows, whole or by one of their keys. */
  function configurations(): readonly Record<string, unknown>[] {
    const blocks = [...serving.matchAll(/^```json\n([\s\S]*?)\n```$/gm)].map(([, block = ""]) => block);
    const keys = spans(serving).filter((span) => /^"\w+": /.test(span));
    const ways = [...serving.matchAll(/^- `(\{.*?\})`/gm)].map(([, way = ""]) => `{"auth": ${way}}`);
    const found = [...blocks, ...keys.map((key) => `{${key}}`), ...ways];
    return found.map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  /** Command lines of `sluice serve`: lines of blocks, and texts between backquotes; without what is said of them. */
  function commandLines(): readonly (readonly [path: string, line: string])[] {
    return [...pages].flatMap(([path, text]) => {
      const blocks = [...text.matchAll(/^```(?:sh|console)\n([\s\S]*?)\n```$/gm)].map(([, block = ""]) => block);
      const lines = blocks.flatMap((block) => block.replaceAll("\\\n", " ").split("\n"));
      return [...lines, ...spans(text)]
        .map((line) => / *(?:#.*)?$/[Symbol.replace](line, ""))
        .filter((line) => /(?:^|[\s-])sluice serve(?: |$)/.test(line))
        .map((line) => [path, line] as const);
    });
  }

  const wordsBehind = (line: string): readonly string[] =>
    line.split("sluice serve")[1]?.split(/\s+/).filter(Boolean) ?? [];

  describe("a configuration that is shown", () => {
    test("is taken by the reader of the file, and so are its sources and its retention", () => {
      const all = configurations();
      expect(all.length).toBeGreaterThanOrEqual(5);
      for (const said of all) {
        const { config } = checkServeFile(said, ENV);
        expect(Object.keys(config).sort()).toEqual(Object.keys(said).sort());
        checkSources(config.sources ?? []);
        readRetention(config.retention ?? {});
      }
    });

    test("of each way to say who somebody is: all that there are", () => {
      const ways = configurations().flatMap(({ auth }) => Object.keys(auth ?? {}));
      const known = serveKeys().flatMap(({ key }) => /^auth\.(\w+)/.exec(key)?.[1] ?? []);
      expect([...new Set(ways)].sort()).toEqual([...new Set(known)].sort());
    });
  });

  describe("a command line that is shown", () => {
    test.each(commandLines())("in %s is taken: %s", (_, line) => {
      const request = parse(["serve", ...wordsBehind(line)]);
      expect(request.kind === "help" ? request.topic : request.kind === "run" ? request.spec.name : "").toBe("serve");
    });

    test("is there of each kind", () => {
      const lines = commandLines().map(([, line]) => line);
      for (const part of [" -- ", "--config", "--store", "--state", "--listen", "--keys"]) {
        expect([part, lines.some((line) => line.includes(part))]).toEqual([part, true]);
      }
    });

    test("has options that there are, where they are shown alone", () => {
      const shown = ["docs/serving.md", "docs/scaling-out.md"].flatMap((path) => spans(pages.get(path) ?? ""));
      const options = shown.filter((span) => /^--\w/.test(span));
      expect(options.length).toBeGreaterThan(2);
      for (const option of options) expect(parse(["serve", ...option.split(" ")]).kind).toBe("run");
    });
  });

  test("the table of limits has each, as it is where nothing is said", () => {
    const rows = [...serving.matchAll(/^\| `(\w+)`.*\| ([\d,]+)( hours)? \|$/gm)];
    const told = rows.map(([, name = "", number = "", hours]) => {
      const value = Number(number.replaceAll(",", ""));
      return [name, hours === undefined ? value : value * 3600] as const;
    });
    expect(Object.fromEntries(told)).toEqual(LIMITS);
  });

  describe("the page on limits", () => {
    const limits = pages.get("docs/limits.md") ?? "";

    test("has each limit of a user, with its key, its option, its effect and its status", () => {
      const rows = [...limits.matchAll(/^\| `(\w+)` \| `(\w+)` \| (.*) \| (\d+) \|$/gm)];
      const shown = rows.map(([, key, name, effect, status]) => [key, name, effect, Number(status)]);
      const known = USER_LIMIT_NAMES.map((name) => {
        const { key, effect } = USER_LIMITS[name];
        const reached = new UserLimitReached(name, { used: 1, most: 1 });
        return [key, name, effect, toSaidError(reached, () => undefined).status];
      });
      expect(shown).toEqual(known);
    });

    test("shows a configuration that has them all, and is taken", () => {
      const [, block = ""] = /^```json\n([\s\S]*?)\n```$/m.exec(limits) ?? [];
      const said = JSON.parse(block) as Record<string, object>;
      const { config } = checkServeFile(said, ENV);
      expect(Object.keys(config.user_limits ?? {})).toEqual(USER_LIMIT_NAMES.map((name) => USER_LIMITS[name].key));
    });

    test("says when what a dead process held is given back", () => {
      expect(limits).toContain(`given back after ${LEASE_MS / 1000} seconds`);
    });
  });

  test("the page of scaling out says when another process goes on with runs of one that died", () => {
    expect(pages.get("docs/scaling-out.md")).toContain(`the dead one's claim is over (${LEASE_SECONDS} seconds)`);
  });
});

/** The page on REST begins with a few commands: what they ask of a real server is answered as a reader would hope. */
describe("curl lines", async () => {
  const page = await readFile(join(ROOT, "docs/rest.md"), "utf8");
  const [, block = ""] = /```sh\n([\s\S]*?)\n```/.exec(page) ?? [];
  const commands = block.replaceAll("\\\n", " ").match(/curl [^|)\n]+/g) ?? [];

  /** Sends what a command line of curl says, to this server in place of the page's. */
  async function sent(command: string, origin: string, token: string): Promise<Response> {
    const [, ...words] = stringArgv(command);
    const headers = new Headers();
    let [path, body]: [string, string | undefined] = ["", undefined];
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] ?? "";
      const value = words[at + 1] ?? "";
      if (word === "-H") headers.append(value.split(": ", 1)[0] ?? "", value.slice(value.indexOf(": ") + 2));
      else if (word === "-d") body = value;
      else if (word.startsWith("localhost:4751/")) path = word.slice("localhost:4751".length);
      else if (word !== "-s" && word !== "-N") throw new Error(`an option of curl that is not known here: ${word}`);
      if (word === "-H" || word === "-d") at += 1;
    }
    const authorization = headers.get("authorization");
    if (authorization !== null) headers.set("authorization", authorization.replace("$token", token));
    return fetch(`${origin}${path}`, { headers, ...(body !== undefined && { method: "POST", body }) });
  }

  test("its commands begin a session, list the tools and call one", async () => {
    await using server = await serve(["--", ...EVERYTHING]);
    const origin = server.url.replace(/\/$/, "");
    const [begin = "", list = "", call = "", ...more] = commands;
    expect([begin, list, call].every((command) => command !== "") && more.length === 0).toBe(true);

    const { token } = (await (await sent(begin, origin, "")).json()) as { token: string };
    const { tools } = (await (await sent(list, origin, token)).json()) as { tools: readonly { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain("everything.echo");
    const told = await (await sent(call, origin, token)).text();
    expect(told).toMatch(/event: result\n(?:id: .*\n)?data: .*Echo: hello/);
  });
});
