/** What is logged of files that a call may not have: with the tool, the user and the time, and never told to the model. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findDeniedWrites } from "../../../web/src/files/tool-text.js";
import type { FileRefusal } from "../../../web/src/tools.js";
import { ADA, BOB, lab, type Lab } from "./lab.js";

interface Logged extends Lab {
  readonly refused: readonly FileRefusal[];
}

async function logged(): Promise<Logged> {
  const refused: FileRefusal[] = [];
  const ours = await lab({ files: { onRefused: (refusal) => void refused.push(refusal), now: () => 0 } });
  return { ...ours, refused };
}

const COMMON = { user_id: "ada", tenant_id: null, time: "1970-01-01T00:00:00.000Z" };

/** The one refusal, which the node's event tells too. */
function only({ refused, events }: Logged): FileRefusal | undefined {
  expect(refused).toHaveLength(1);
  expect(events.filter(({ kind }) => kind === "refused")).toEqual([{ kind: "refused", ...refused[0] }]);
  return refused[0];
}

describe("a refusal is logged", () => {
  test("of a name in the arguments that is no file of the user's", async () => {
    const ours = await logged();
    await ours.userFiles.storage(BOB).put("bobs.csv", "x");
    const result = await ours.call("length", { filename: "../bob/bobs.csv" });
    const refusal = only(ours);
    expect(refusal).toMatchObject({ ...COMMON, where: "arguments", tool: "lab.length", refused: "bobs.csv" });
    expect(refusal?.message).toBe(
      '1970-01-01T00:00:00.000Z lab.length for "ada" was refused what its arguments name: The user has no file "bobs.csv".',
    );
    expect(result.text).not.toContain("1970-01-01");
  });

  test("of a reference in the arguments to another user's file", async () => {
    const ours = await logged();
    const { id } = await ours.userFiles.storage(BOB).put("bobs.csv", "x");
    await ours.call("echo", { filenames: [`artifact://${id}`] }, { ...ADA, tenant_id: "acme" });
    const refusal = only(ours);
    expect(refusal).toMatchObject({
      where: "arguments",
      tool: "lab.echo",
      user_id: "ada",
      tenant_id: "acme",
      refused: id,
    });
    expect(refusal?.message).toContain('for "ada" of "acme"');
  });

  test.each([
    ["of another user's folder", (root: string) => join(root, "bob", "secret.csv"), "/tmp/…/secret.csv", "outside"],
    [
      "up and out of the folder",
      (root: string) => `${root}/ada/../bob/secret.csv`,
      "/tmp/ada/../…/secret.csv",
      "outside",
    ],
    ["that is a symbolic link", (root: string) => join(root, "ada", "link"), "/tmp/ada/link", "link"],
  ])("of a path in a result %s", async (_, pathIn, refused, reason) => {
    const ours = await logged();
    await ours.call("write", { name: "x.txt", content: "x" });
    await symlink("/etc/passwd", join(ours.root, "ada", "link"));
    const result = await ours.call("path", { path: pathIn(ours.root) });
    const refusal = only(ours);
    expect(refusal).toMatchObject({ ...COMMON, where: "result", tool: "lab.path", refused, error: { reason } });
    for (const words of [refusal?.message, result.text]) {
      expect(words).not.toContain("bob");
      expect(words).not.toContain(ours.root);
    }
  });

  test("of a write that a read-only file system denied, once, where the result says so", async () => {
    const ours = await logged();
    const text = "OSError: [Errno 30] Read-only file system: '/etc/planted'";
    const answers = [
      { isError: true, content: [{ type: "text", text }] },
      { content: [{ type: "text", text: JSON.stringify({ error: text }) }], structuredContent: { error: text } },
      { content: [], structuredContent: { results: { error: text } } },
    ];
    const told = await Promise.all(answers.map((result) => ours.call("raw", { result })));
    // A model is told in our words where the result is an error, with the tool's beside them.
    const inOurs = {
      results: { error: "File operation outside allowed directory", said: text },
      meta_data: {
        is_error: true,
        reason: "SecurityViolation",
        error_code: "E_INVALID_PATH",
        details: {
          attempted_path: "/etc/planted",
          allowed_prefix: "/tmp/ada/",
          suggestion: "Use /tmp/{username}/ prefix for file operations",
        },
        retryable: false,
      },
    };
    expect(told.map(({ isError }) => isError)).toEqual([true, false, true]);
    expect([told[0]?.value, told[2]?.value]).toEqual([inOurs, inOurs]);
    expect(told[1]?.text).toContain(text);
    expect(ours.refused).toHaveLength(3);
    for (const refusal of ours.refused) {
      expect(refusal).toMatchObject({ ...COMMON, where: "write", tool: "lab.raw", refused: "/etc/planted" });
    }
  });

  test("of nothing where nothing is refused", async () => {
    const ours = await logged();
    await writeFile(join(ours.root, "note"), "of no matter");
    await ours.userFiles.storage(ADA).put("a.txt", "x");
    await ours.call("length", { filename: "a.txt" });
    await ours.call("write", { name: "x.txt", content: "x" });
    await ours.call("raw", { result: { content: [{ type: "text", text: "Is /etc a read-only file system?" }] } });
    expect(ours.refused).toEqual([]);
  });
});

describe("a write that was denied", () => {
  test.each([
    ["Error: EROFS: read-only file system, open '/etc/x'", ["/etc/x"]],
    ["EROFS: read-only file system, mkdir '/a b/c'\nEROFS: read-only file system, open '/d'", ["/a b/c", "/d"]],
    ["OSError: [Errno 30] Read-only file system: '/etc/x'", ["/etc/x"]],
    ["sh: 1: cannot create /etc/x: Read-only file system", ["/etc/x"]],
    ["touch: cannot touch '/etc/x': Read-only file system", ["/etc/x"]],
    ["open /etc/x: read-only file system", ["/etc/x"]],
    [JSON.stringify({ text: JSON.stringify("[Errno 30] Read-only file system: '/etc/x'") }), ["/etc/x"]],
    ["It is a read-only file system.", []],
  ])("is found in %j", (said, paths) => {
    expect(findDeniedWrites(said)).toEqual(paths);
  });

  test("is looked for in bounded time and number", () => {
    for (const part of [
      "read-only file system: ",
      "/etc/x: read-only file system",
      "/",
      "read-only file system, open '/",
    ]) {
      const before = performance.now();
      expect(
        findDeniedWrites(`read-only file system ${part.repeat(1_000_000 / part.length)}`).length,
      ).toBeLessThanOrEqual(16);
      expect(performance.now() - before).toBeLessThan(5000);
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => void findDeniedWrites(`read-only file system: /${text}`)),
    );
  });
});
