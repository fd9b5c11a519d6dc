/** The installed command, serving the page of the playground's package. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { PLAYGROUND, SITE } from "../../scripts/site.mjs";
import { NODE_VERSIONS, nodeFolder } from "./nodes.js";
import { NPM_QUIET, ROOT, run } from "./run.js";
import { begin, called } from "../unit/cli/serve/serving.js";
import { isFull } from "../support/full.js";
import { office, shownIn } from "../support/office.js";

const app = inject("app");

/** A project that has both packages. */
let both: string;

beforeAll(async () => {
  both = await mkdtemp(join(tmpdir(), "sluice-playground-"));
  await run("npm", ["pack", "--pack-destination", both], { cwd: PLAYGROUND });
  const [packed = ""] = await readdir(both);
  await writeFile(join(both, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", ...NPM_QUIET, inject("tarball"), join(both, packed)], { cwd: both });
}, 300_000);

afterAll(() => rm(both, { recursive: true, force: true }));

/** Starts it on a free port, with more words; gives its address, which ends with `/`. */
async function serving(cwd: string, path: string, ...words: readonly string[]): Promise<string> {
  const child = spawn(join(cwd, "node_modules", ".bin", "sluice"), ["serve", "--listen", "127.0.0.1:0", ...words], {
    cwd,
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  const [line] = (await once(createInterface({ input: child.stderr }), "line")) as [string];
  return line.replace("sluice: listening on ", "");
}

describe.each(NODE_VERSIONS)("Node %s", (version) => {
  // A brief run tries the oldest alone.
  const isTried = isFull || version === NODE_VERSIONS[0];
  let path: string;

  beforeAll(async () => {
    path = await nodeFolder(version);
  }, 300_000);

  test.runIf(isTried)("`sluice serve` serves the playground, and sessions behind it", async () => {
    const url = await serving(both, path);
    const page = await (await fetch(url)).text();
    expect(page).toContain('<meta name="sluice-server" content="./" />');
    const named = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(2);
    for (const name of named) expect([name, (await fetch(`${url}${name}`)).status]).toEqual([name, 200]);
    const begun = await fetch(`${url}sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(begun.status).toBe(201);
  });

  test.runIf(isTried)("`sluice serve` reads workbooks in a process of its own, and PDFs", async () => {
    const place = await office();
    const config = join(place.folder, "serve.json");
    const sources = [{ name: "office", transport: "mcp", connection: place.connection }];
    await writeFile(config, JSON.stringify({ sources }));
    const session = await begin(await serving(app, path, "--config", config));
    const read = async (name: string, args: object): Promise<string> => {
      const given = (await called(session, "office.file", { name })) as { artifacts: readonly { id: string }[] };
      const uri = given.artifacts[0]?.id;
      const answer = await called(session, "office.artifact_read", { uri, ...args });
      return (answer as { observation: string }).observation;
    };
    const query = "SELECT city, SUM(amount) AS total FROM rows GROUP BY city";
    expect(shownIn(await read("sales.xlsx", { sheet: "Q2", query }))).toBe("city,total\nBern,35\nOslo,25");
    expect(await read("report.pdf", { pages: "2" })).toContain("The warranty lasts 42 months.");
  });

  test.runIf(isTried)("without the playground, `sluice serve` says how to install it", async () => {
    const url = await serving(app, path);
    const answer = await fetch(url);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await answer.text()).toContain("<code>npm install mcp-sluice-playground</code>");
    expect((await fetch(`${url}health`)).status).toBe(200);
  });
});

/** Paths of all files under a folder, with `/` between names. */
async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .sort();
}

test("the playground's package has all of the site but what only a few PDFs need, and the picture of a link to it", async () => {
  const installed = join(both, "node_modules", "mcp-sluice-playground");
  const site = (await filesUnder(SITE)).filter((name) => !/^(?:pdf\/(?:cmaps|iccs)\/|preview\.png$)/.test(name));
  const papers = ["LICENSE", "README.md", "package.json"];
  expect(await filesUnder(installed)).toEqual([...papers, ...site.map((name) => `site/${name}`)].sort());
  expect(site).toEqual(expect.arrayContaining(["index.html", "sw.js"]));
  expect(site.filter((name) => name.endsWith(".map"))).toEqual([]);
  const versionOf = async (path: string): Promise<string> =>
    (JSON.parse(await readFile(path, "utf8")) as { version: string }).version;
  expect(await versionOf(join(installed, "package.json"))).toBe(await versionOf(join(ROOT, "package.json")));
});
