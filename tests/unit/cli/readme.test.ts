import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";
import { COMMAND, ROOT } from "./command.js";

// Inside the checkout, so that `mcp-sluice` is the package itself.
const folder = join(ROOT, "build", "readme");
const readme = await readFile(join(ROOT, "README.md"), "utf8");
const run = promisify(execFile);

/** The fenced blocks that a comment marks as run by this test. */
function blocks(kind: string): string[] {
  const found = readme.matchAll(new RegExp(`<!-- run: ${kind} -->\n\`\`\`\\w+\n([\\s\\S]*?)\n\`\`\``, "g"));
  return Array.from(found, ([, block = ""]) => block);
}

/** `$ command` and the lines that it prints. */
function steps(block: string): [command: string, output: string][] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...output] = step.split("\n");
      return [command, output.join("\n").trimEnd()];
    });
}

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "bin"), { recursive: true });
  await writeFile(join(folder, "bin", "sluice"), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`, {
    mode: 0o755,
  });
  // Not packed, so that its SHA-256, and with it the id, is the same everywhere.
  const content = makePdf({ packed: false }).toString("base64");
  const answer = JSON.stringify({ content, name: "Sales Dashboard", format: "pdf" });
  await writeFile(join(folder, "result.json"), JSON.stringify({ content: [{ type: "text", text: answer }] }));
  await writeFile(join(folder, "screenshot.png"), makePng());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("README.md", () => {
  test("its command examples print what it says", async () => {
    const path = [join(folder, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const all = blocks("command").flatMap(steps);
    expect(all.length).toBeGreaterThan(5);
    for (const [command, output] of all) {
      const ran = await run("sh", ["-c", `${command} || true`], { cwd: folder, env: { ...process.env, PATH: path } });
      expect(`$ ${command}\n${ran.stdout.trimEnd()}`).toBe(`$ ${command}\n${output}`);
      expect(ran.stderr).toBe("");
    }
  });

  test("its library example runs", async () => {
    const [example = ""] = blocks("library");
    await writeFile(join(folder, "example.mjs"), example);
    const { stdout } = await run(process.execPath, ["example.mjs"], { cwd: folder });
    const [text = "", id, same] = stdout.trimEnd().split("\n");
    expect(JSON.stringify(JSON.parse(text))).toContain(`"id":"${id}"`);
    expect(id).toMatch(/^browser_[0-9a-f]{12}$/);
    expect(same).toBe("true");
  });

  test("what it links to is there", async () => {
    for (const [, target = ""] of readme.matchAll(/\]\(([^)]+)\)/g)) {
      await expect(readFile(join(ROOT, target))).resolves.toBeDefined();
    }
  });
});
