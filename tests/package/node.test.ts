/** The installed package in every supported version of Node. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { BUDGETS, kilo, MARGIN, measure } from "../../scripts/size.mjs";
import { isFull } from "../support/full.js";
import { NODE_VERSIONS, nodeFolder } from "./nodes.js";
import { ROUND_TRIP } from "./report.js";
import { ROOT, run } from "./run.js";

describe("Node", () => {
  const app = inject("app");
  const bare = inject("path");
  const SLUICE = join(app, "node_modules", ".bin", "sluice");

  /** Whether a shell finds a program where the package was installed. */
  async function found(name: string): Promise<boolean> {
    return run("sh", ["-c", `command -v ${name}`], { cwd: app, path: bare }).then(
      () => true,
      () => false,
    );
  }

  test("where it was installed there is no Emscripten", async () => {
    expect(await found("node")).toBe(true);
    for (const name of ["emcc", "em++", "em-config", "cmake"]) expect([name, await found(name)]).toEqual([name, false]);
  });

  test("the oldest version tried is the one that package.json asks for", async () => {
    const { engines } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
    expect(`${engines.node}.0`).toBe(`>=${NODE_VERSIONS[0]}`);
  });

  describe.each(NODE_VERSIONS)("Node %s", (version) => {
    // A brief run tries the oldest alone.
    const isTried = isFull || version === NODE_VERSIONS[0];
    let path: string;

    // The first time, npm fetches it.
    beforeAll(async () => {
      path = await nodeFolder(version);
    }, 300_000);

    test.runIf(isTried)("reduces, stores in memory and in files, and restores", async () => {
      const { stdout } = await run("node", ["in-node.js"], { cwd: app, path });
      expect(JSON.parse(stdout)).toEqual({
        node: version,
        root: ROUND_TRIP,
        files: ROUND_TRIP,
        oneLibrary: true,
      });
    });

    test.runIf(isTried)("CommonJS can require it", async () => {
      const { stdout } = await run("node", ["common-js.cjs"], { cwd: app, path });
      expect(stdout).toBe("function function\n");
    });

    test.runIf(isTried)("runs where no code may be made from strings", async () => {
      const { stdout } = await run("node", ["--disallow-code-generation-from-strings", "in-node.js"], {
        cwd: app,
        path,
      });
      expect(JSON.parse(stdout)).toMatchObject({ root: ROUND_TRIP });
    });

    test.runIf(isTried)("`sluice` tells its version", async () => {
      const { version: packed } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
      expect((await run(SLUICE, ["--version"], { cwd: app, path })).stdout).toBe(`sluice ${packed}\n`);
    });

    test.runIf(isTried)("`sluice` reduces a file and restores it", async () => {
      const store = join(app, `store-of-${version}`);
      const data = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(20_000, "x")]).toString("base64");
      const result = JSON.stringify({ content: [{ type: "text", text: JSON.stringify({ data }) }] });
      await writeFile(join(app, "result.json"), result);
      const reduced = await run(SLUICE, ["transform", "result.json", "--dialect", "mcp", "--store", store], {
        cwd: app,
        path,
      });
      expect(reduced.stdout.length).toBeLessThan(2_000);
      await writeFile(join(app, "reduced.json"), reduced.stdout);
      const restored = await run(SLUICE, ["restore", "reduced.json", "--store", store], { cwd: app, path });
      expect(restored.stdout.trimEnd()).toBe(result);
      await rm(store, { recursive: true });
    });
  });
});

/** What the package weighs as it travels: scripts/size.mjs has the budgets. */
describe("sizes", () => {
  const parts = Object.keys(BUDGETS) as (keyof typeof BUDGETS)[];
  let sizes: Awaited<ReturnType<typeof measure>>;

  beforeAll(async () => {
    sizes = await measure(inject("tarball"), join(inject("app"), "node_modules", "mcp-sluice"));
    const lines = parts.map((part) => `${part} ${kilo(sizes[part])} of ${kilo(BUDGETS[part])}`);
    console.log(`size, gzipped: ${lines.join(", ")}`);
  });

  test.each(parts)("%s keeps to its budget", (part) => {
    expect(sizes[part]).toBeLessThan(BUDGETS[part] * MARGIN);
    // A budget that is far too wide would let anything in; so would a measure that misses most of it.
    expect(sizes[part]).toBeGreaterThan(BUDGETS[part] / 2);
  });
});
