import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "./command.js";

test("the demo calls every server, shows no base64, and proves that nothing was lost", async () => {
  const from = performance.now();
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["scripts/demo/main.mjs", "--no-serve"], {
    cwd: ROOT,
  });
  expect(performance.now() - from).toBeLessThan(30_000);
  expect(stderr).toBe("");
  for (const heading of [
    "tableau · download_workbook",
    "everything · get-tiny-image",
    "filesystem · read_media_file",
  ]) {
    expect(stdout).toContain(heading);
  }
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toMatch(/[A-Za-z0-9+/]{200}/);
  expect(stdout).toMatch(/npx --no-install sluice artifacts get tableau_[0-9a-f]{12} --store build\/demo\/store -o /);
  expect(stdout).toContain("the same SHA-256");
  expect(stdout).toContain(join("build", "demo", "files", "workbook.pdf"));
});
