/** What the pages show of `sluice serve` is what it takes: configurations, command lines, limits. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import stringArgv from "string-argv";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { readRetention } from "../../../web/src/artifacts/retention/policy.js";
import { parse } from "../../../web/src/cli/parse.js";
import { checkServeFile, serveKeys } from "../../../web/src/cli/serve/config-file.js";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { OpenAiClient } from "../../../web/src/planner.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { PAGE } from "../../../web/src/server/artifacts/page.js";
import { LEASE_SECONDS } from "../../../web/src/server/chat/chats.js";
import { saidOf } from "../../../web/src/server/http/refusals.js";
import { BodyRefused } from "../../../web/src/server/http/request.js";
import { StoreLate } from "../../../web/src/server/http/time-limit.js";
import { LIMITS } from "../../../web/src/server/options.js";
import { EVENTS_LOST } from "../../../web/src/server/sessions/event-log.js";
import { checkSources } from "../../../web/src/tools/config/sources-file.js";
import { ROOT } from "../cli/command.js";
import { EVERYTHING, serve } from "../cli/serve/serving.js";
import { Visitor } from "../server/visitor.js";
import { answers, found as matches, typeIn } from "./answers.js";

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

/** The page of REST and events has every address, event, status and code that a server answers with, and no other. */
describe("the page on REST", async () => {
  const page = await readFile(join(ROOT, "docs/rest.md"), "utf8");

  /** The cells of all tables whose first column has this name. */
  function table(name: string): readonly (readonly string[])[] {
    const rows: (readonly string[])[] = [];
    let isIn = false;
    for (const line of page.split("\n")) {
      const cells = line.startsWith("|") ? line.split(" | ").map((cell) => cell.replace(/^\| ?| ?\|$/g, "")) : [];
      if (cells.length === 0) isIn = false;
      else if (cells[0] === name) isIn = true;
      else if (isIn && !line.startsWith("|-")) rows.push(cells);
    }
    return rows;
  }

  const codeIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

  interface Address {
    /** `ANY` where all are the source's own affair. */
    readonly method: string;
    /** Without what stands behind `?`. */
    readonly path: string;
  }

  /** Several methods of one address stand before it; several addresses behind one method. */
  function addressesIn(cell: string): readonly Address[] {
    let methods: readonly string[] = [];
    let isOpen = false;
    return codeIn(cell).flatMap((code) => {
      const [, method, path = ""] = /^(?:([A-Z]+)(?: |$))?([a-z][^ ?]*)?/.exec(code) ?? [];
      if (method !== undefined) methods = isOpen ? [...methods, method] : [method];
      isOpen = path === "";
      if (path === "") return [];
      return (methods.length === 0 ? ["ANY"] : methods).map((each) => ({ method: each, path }));
    });
  }

  const shown = table("request").flatMap(([cell = ""]) => addressesIn(cell));

  /** The same address, whatever its parts are called. */
  const plain = ({ method, path }: Address): string =>
    `${method} ${path.replace(/\{\w+\}|:\w+|(?<=^sessions\/)current/g, "{}").replace(/\/$/, "")}`;

  /** The addresses that are mounted, as the sources of the routes have them. */
  async function mounted(): Promise<readonly string[]> {
    const folder = join(ROOT, "web/src/server/routes");
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
    const server = await readFile(join(ROOT, "web/src/server/sluice-server.ts"), "utf8");
    return [...server.matchAll(/(?:\.route|mount)\("\/(\w+)", (\w+)\(/g)].flatMap(([, room = "", routes = ""]) => {
      const [, source = ""] =
        files.map((text) => text.split(`export function ${routes}(`)).find(([, own]) => own) ?? [];
      if (room === "mcp") return ["ANY mcp/{}"];
      const [own = ""] = source.split("\n}\n", 1);
      const methods = /"(\/[^"]*)": \{|[\s{](get|post|put|patch|delete)(?=:| \})|\.get\("(\/[^"]*)"/g;
      let path = "";
      return [...own.matchAll(methods)].flatMap(([, inTable, method, alone]) => {
        path = inTable ?? alone ?? path;
        if (inTable !== undefined) return [];
        return [plain({ method: (method ?? "get").toUpperCase(), path: room + path })];
      });
    });
  }

  describe("the addresses", () => {
    let server: SluiceServer;
    beforeAll(() => {
      server = new SluiceServer({
        store: new MemoryArtifactStore(),
        filesStore: new MemoryArtifactStore(),
        llm: new OpenAiClient({ model: "none", baseUrl: "http://127.0.0.1:9/v1" }),
        metrics: {},
        mcp: { names: new Set(["lab"]), answer: async () => new Response("its own"), end: async () => undefined },
      });
      return () => server[Symbol.asyncDispose]();
    });

    test("are those that are mounted, and no other", async () => {
      expect(shown.length).toBeGreaterThan(30);
      expect([...new Set(shown.map(plain))].sort()).toEqual([...new Set(await mounted())].sort());
    });

    test.each(shown)("$method $path is served", async ({ method, path }) => {
      const visitor = await Visitor.of(server);
      const asked = path.replace("{source}", "lab").replace(/\{\w+\}/g, "web_0123456789ab");
      const answer = await visitor.ask(`/${asked}`, { method: method === "ANY" ? "POST" : method });
      expect(answer.status).not.toBe(405);
      if (/event-stream/.test(answer.headers.get("content-type") ?? "")) return answer.body?.cancel();
      expect(await answer.text()).not.toContain("Nothing is served at this address");
      return undefined;
    });

    test("tell how long a page of the list is", () => {
      expect(page).toContain(`\`?limit=\`, ${PAGE.usual} unless it is said, ${PAGE.most} at most`);
    });
  });

  test("the events of a session are those that it is told, and no other", async () => {
    const type = await typeIn("web/src/server/sessions/announcer.ts", "SessionEvent");
    const kinds = matches(type, (node) =>
      ts.isPropertySignature(node) && node.name.getText() === "kind" ? node.type?.getText().slice(1, -1) : undefined,
    );
    const told = table("event").map(([cell = ""]) => codeIn(cell)[0]);
    expect(new Set(told)).toEqual(new Set([...kinds, EVENTS_LOST.kind]));
  });

  /** Status and code that an error is told by. */
  function said(error: unknown): string {
    const { status, code } = saidOf(error, () => undefined);
    return `${status} ${code}`;
  }

  describe("the statuses", () => {
    const told = table("status").flatMap(([statuses = "", codes = ""]) =>
      statuses.split(", ").flatMap((status) => codeIn(codes).map((code) => `${status} ${code}`)),
    );

    test("have the codes that they are answered with, and no other", async () => {
      const bodies = ([400, 408, 413, 415] as const).map((status) => said(new BodyRefused(status, "")));
      const pairs = (await answers()).flatMap(({ status, code }) => (code === undefined ? [] : [`${status} ${code}`]));
      const all = [...pairs, ...bodies, said(new StoreLate()), said(new Error("a fault"))];
      expect([...new Set(told)].sort()).toEqual([...new Set(all)].sort());
    });

    test("leave none out that is answered with", async () => {
      const statuses = (await answers()).map(({ status }) => status);
      expect(told.map((each) => each.slice(0, 3))).toEqual(expect.arrayContaining([...new Set(statuses)]));
    });

    test("stand once with each code", () => {
      expect(told.filter((each, at) => told.indexOf(each) !== at)).toEqual([]);
    });
  });
});
