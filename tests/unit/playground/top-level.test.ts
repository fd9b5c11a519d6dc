/** Modules of the page: none keeps those waiting that import it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { root } from "../../../scripts/run.mjs";

/** Whether a part of a module waits while the module is loaded. */
function isWaiting(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(isWaiting);
  if (typeof node !== "object" || node === null) return false;
  const { type = "", await: isAwaited } = node as { readonly type?: string; readonly await?: unknown };
  if (type === "AwaitExpression" || (type === "ForOfStatement" && isAwaited === true)) return true;
  return !/Function/.test(type) && Object.values(node).some(isWaiting);
}

// A chunk that is loaded later may have its imports in the entry's own chunk, and would wait for the entry that waits for it.
test("no module waits at its top level", async () => {
  const folders = ["web/playground", "web/ui"];
  const names = folders.map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true }))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const files = (await Promise.all(names)).flat();
  const waiting = files.map(async (name) => {
    const { program, errors } = parseSync(name, await readFile(join(root, name), "utf8"));
    expect(errors).toEqual([]);
    return isWaiting(program) ? [name] : [];
  });
  expect(files).toContain(join("web/playground", "main.ts"));
  expect((await Promise.all(waiting)).flat()).toEqual([]);
});
