import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, link, mkdir, open, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileTooLargeError, InvalidPathError } from "../../../../web/src/files/workspace/errors.js";
import { OpenFolder } from "../../../../web/src/files/workspace/open-folder.js";
import { openInside } from "../../../../web/src/files/workspace/output.js";
import { Workspace } from "../../../../web/src/files/workspace/workspace.js";
import { emptyFolder } from "../../../support/folder.js";
import { adas } from "./rooms.js";

const SECRET = "secret";

async function textOf(workspace: Workspace, path: string): Promise<string> {
  await using file = await workspace.openOutput(path);
  return await new Response(file.stream()).text();
}

/** What `openOutput` throws. */
async function refusal(workspace: Workspace, path: string): Promise<InvalidPathError> {
  const thrown = await workspace.openOutput(path).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(InvalidPathError);
  return thrown as InvalidPathError;
}

describe("a file that a tool wrote", () => {
  test("is read by the path that the tool gave", async () => {
    const workspace = await adas();
    await mkdir(join(workspace.folder, "out"));
    await writeFile(join(workspace.folder, "out", "report.html"), "<p>");
    await using file = await workspace.openOutput("/tmp/ada/out/report.html");
    expect(file.size_bytes).toBe(3);
    expect(await new Response(file.stream()).text()).toBe("<p>");
    expect(await textOf(workspace, "/tmp/ada//./out/report.html")).toBe("<p>");
  });

  test("has every byte, however many", async () => {
    const workspace = await adas();
    const content = Buffer.from(Array.from({ length: 200_001 }, (_, at) => at % 251));
    await writeFile(join(workspace.folder, "big"), content);
    await writeFile(join(workspace.folder, "none"), "");
    await using file = await workspace.openOutput("/tmp/ada/big");
    expect(Buffer.from(await new Response(file.stream()).arrayBuffer()).equals(content)).toBe(true);
    expect(await textOf(workspace, "/tmp/ada/none")).toBe("");
  });

  test("is not there: E_NOT_FOUND, by the path that the tool gave", async () => {
    const workspace = await adas();
    const thrown = await workspace.openOutput("/tmp/ada/none").catch((error: unknown) => error as Error);
    expect(thrown).toMatchObject({ code: "E_NOT_FOUND" });
    expect((thrown as Error).message).toContain("/tmp/ada/none");
    expect((thrown as Error).message).not.toContain(workspace.folder);
  });

  test("is refused where it is larger than what is taken", async () => {
    const workspace = await adas({ maxBytes: 10 });
    await writeFile(join(workspace.folder, "fits"), "0123456789");
    await writeFile(join(workspace.folder, "large"), "");
    await truncate(join(workspace.folder, "large"), 2 ** 40);
    expect(await textOf(workspace, "/tmp/ada/fits")).toBe("0123456789");
    const thrown = await workspace.openOutput("/tmp/ada/large").catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(FileTooLargeError);
    expect(thrown).toMatchObject({
      code: "E_FILE_TOO_LARGE",
      details: { file_size_bytes: 2 ** 40, current_limit_bytes: 10 },
    });
  });

  test("comes to the size that was checked when it grows while it is read, and to an error when it shrinks", async () => {
    const workspace = await adas();
    const path = join(workspace.folder, "log");
    await writeFile(path, "0123456789");
    await using grown = await workspace.openOutput("/tmp/ada/log");
    await writeFile(path, "abc", { flag: "a" });
    expect(await new Response(grown.stream()).text()).toBe("0123456789");
    await using shrunken = await workspace.openOutput("/tmp/ada/log");
    await truncate(path, 4);
    await expect(new Response(shrunken.stream()).text()).rejects.toMatchObject({ code: "E_TOOL" });
  });

  test("is read although it was deleted or replaced after it was opened", async () => {
    const workspace = await adas();
    await writeFile(join(workspace.folder, "a"), "checked");
    await writeFile(join(workspace.folder, "b"), "another");
    await using file = await workspace.openOutput("/tmp/ada/a");
    await rename(join(workspace.folder, "b"), join(workspace.folder, "a"));
    expect(await new Response(file.stream()).text()).toBe("checked");
  });
});

const PATHS: readonly (readonly [path: string, reason: string])[] = [
  ["/etc/passwd", "outside"],
  ["/tmp/ada", "outside"],
  ["/tmp/ada/", "not_a_file"],
  ["/tmp/ada/.", "not_a_file"],
  ["/tmp/ada//", "not_a_file"],
  ["/tmp/adam/file", "outside"],
  ["/tmp/bob/file", "outside"],
  ["/tmp/ada/../bob/file", "outside"],
  ["/tmp/ada/folder/../file", "outside"],
  ["/tmp/ada/..", "outside"],
  ["/tmp/../tmp/ada/file", "outside"],
  ["//tmp/ada/file", "outside"],
  ["/TMP/ada/file", "outside"],
  ["file", "outside"],
  ["./file", "outside"],
  ["ada/file", "outside"],
  ["", "outside"],
  ["file:///tmp/ada/file", "outside"],
  ["/tmp/ada/file\0", "malformed"],
  ["/tmp/ada/file\0/../../etc/passwd", "malformed"],
  ["/tmp/ada/file (deleted)", "malformed"],
  [`/tmp/ada/${"a/".repeat(65)}`, "malformed"],
  [`/tmp/ada/${"a".repeat(300)}`, "malformed"],
  [`/tmp/ada/${"a".repeat(5000)}`, "malformed"],
  ["/tmp/ada/file/below", "link"],
  ["/tmp/ada/folder", "not_a_file"],
  ["/tmp/ada/link", "link"],
  ["/tmp/ada/link-inside", "link"],
  ["/tmp/ada/link-folder/secret", "link"],
  ["/tmp/ada/link-self/secret", "link"],
  ["/tmp/ada/folder/deep-link/secret", "link"],
  ["/tmp/ada/hard", "hard_link"],
  ["/tmp/ada/pipe", "not_a_file"],
  ["/tmp/ada/socket", "not_a_file"],
];

/** Those that are told otherwise: nobody is told what other users are called. */
const SHOWN: Readonly<Record<string, string>> = {
  "/tmp/adam/file": "/tmp/…/file",
  "/tmp/bob/file": "/tmp/…/file",
  "/tmp/ada/../bob/file": "/tmp/ada/../…/file",
  "/tmp/../tmp/ada/file": "/tmp/…/file",
  "/tmp/ada/file\0/../../etc/passwd": "/tmp/ada/file/../…/passwd",
};

/** What is in the way of each of them. */
async function planted(): Promise<Workspace> {
  const workspace = await adas();
  const at = (...names: string[]): string => join(workspace.folder, ...names);
  const outside = join(workspace.folder, "..", "bob");
  await mkdir(outside);
  for (const path of [join(outside, "secret"), join(outside, "file"), at("file")]) await writeFile(path, SECRET);
  await mkdir(at("folder"));
  await symlink(join(outside, "secret"), at("link"));
  await symlink("file", at("link-inside"));
  await symlink("../bob", at("link-folder"));
  await symlink("link-self", at("link-self"));
  await symlink(outside, at("folder", "deep-link"));
  await link(join(outside, "secret"), at("hard"));
  await promisify(execFile)("mkfifo", [at("pipe")]);
  const server = createServer().listen(at("socket"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return workspace;
}

describe("a path that a tool must not name", () => {
  test("is refused with what the specification's error tells", async () => {
    const workspace = await planted();
    for (const [path, reason] of PATHS) {
      const { code, reason: why, details, message } = await refusal(workspace, path);
      expect([path, code, why]).toEqual([path, "E_INVALID_PATH", reason]);
      expect(details.allowed_prefix).toBe("/tmp/ada/");
      expect(details.attempted_path).toBe((SHOWN[path] ?? path).replaceAll("\0", "").slice(0, 1024));
      expect(message).not.toContain(join(workspace.folder, ".."));
    }
  });

  test.skipIf(process.getuid?.() === 0)("is refused where it cannot be read", async () => {
    const workspace = await planted();
    await chmod(join(workspace.folder, "file"), 0);
    expect((await refusal(workspace, "/tmp/ada/file")).reason).toBe("unreadable");
  });

  test("is shown without what cannot be seen, and cut", async () => {
    const workspace = await adas();
    const { details, message } = await refusal(workspace, `/etc/\u202e\u200b\u001b[31m${"\u{1f600}".repeat(4000)}`);
    expect(details.attempted_path).toMatch(/^\/etc\/\[31m\u{1f600}+$/u);
    expect(details.attempted_path.length).toBeLessThanOrEqual(1024);
    expect(message.length).toBeLessThan(1200);
    expect((await refusal(workspace, 7 as unknown as string)).details.attempted_path).toBe("number");
  });

  test("never gives a byte of another's, whatever it is made of", async () => {
    const workspace = await planted();
    const part = fc.constantFrom(
      "..",
      ".",
      "",
      "tmp",
      "ada",
      "bob",
      "secret",
      "link",
      "link-folder",
      "folder",
      "hard",
      "\\",
    );
    const path = fc.array(part, { maxLength: 6 }).map((parts) => `/tmp/ada/${parts.join("/")}`);
    await fc.assert(
      fc.asyncProperty(path, async (each) => {
        const text = await textOf(workspace, each).catch(() => "");
        expect(text).toBe("");
      }),
    );
  });
});

test("the path on this machine is taken where it is what tools are told", async () => {
  const root = await emptyFolder();
  const workspace = await Workspace.open({ root, name: "ada", shownRoot: root });
  expect(workspace.prefix).toBe(join(root, "ada/"));
  await writeFile(join(workspace.folder, "file"), "mine");
  expect(await textOf(workspace, join(root, "ada", "file"))).toBe("mine");
  const outside = await Promise.all(
    ["/etc/passwd", join(root, "bob", "secret"), join(root, "secret"), join(root, "ada", "..", "x")].map((path) =>
      refusal(workspace, path),
    ),
  );
  expect(outside.map(({ details }) => details.attempted_path)).toEqual([
    "/etc/passwd",
    "/tmp/…/secret",
    "/tmp/secret",
    "/tmp/x",
  ]);
  expect(new Set(outside.map(({ details }) => details.allowed_prefix))).toEqual(new Set(["/tmp/ada/"]));
});

test.skipIf(process.platform !== "linux")(
  "a tool that swaps files for links gets nothing of another's read",
  async () => {
    const workspace = await adas();
    const outside = join(workspace.folder, "..", "bob");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), SECRET);
    const program = fileURLToPath(new URL("swapper.mjs", import.meta.url));
    const swapper = spawn(process.execPath, [program, workspace.folder, outside], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void swapper.kill("SIGKILL"));
    await once(swapper.stdout, "data");

    const paths = ["file", "folder/secret", "hard", "name (deleted)", "name", "mixed"].map(
      (name) => `/tmp/ada/${name}`,
    );
    const seen = new Map<string, number>();
    for (let count = 0; count < 350; count += 1) {
      for (const path of paths) {
        const outcome = await textOf(workspace, path).catch((error: unknown) =>
          error instanceof InvalidPathError ? error.reason : (error as { code: string }).code,
        );
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    }
    swapper.stdin.end();
    const known = ["", "mine", "E_NOT_FOUND", "malformed", "link", "hard_link", "changed", "not_a_file"];
    expect([...seen.keys()].filter((outcome) => !known.includes(outcome))).toEqual([]);
    // Else it was not the race that it should be.
    expect(seen.size).toBeGreaterThan(3);
    expect(await readFile(join(outside, "secret"), "utf8")).toBe(SECRET);
  },
);

test("where folders cannot be held open, links, second names and folders are refused all the same", async () => {
  const root = await emptyFolder();
  await mkdir(join(root, "ada", "folder"), { recursive: true });
  await writeFile(join(root, "secret"), SECRET);
  await writeFile(join(root, "ada", "folder", "file"), "mine");
  await symlink("..", join(root, "ada", "up"));
  await symlink("../secret", join(root, "ada", "link"));
  await link(join(root, "secret"), join(root, "ada", "hard"));
  await using folder = await OpenFolder.open(join(root, "ada"), false);
  const { file, size } = await openInside(folder, ["folder", "file"]);
  await file.close();
  expect(size).toBe(4);
  for (const [names, reason] of [
    [["up", "secret"], "link"],
    [["link"], "link"],
    [["hard"], "hard_link"],
    [["folder"], "not_a_file"],
  ] as const) {
    await expect(openInside(folder, names)).rejects.toMatchObject({ reason });
  }
});

test("many files can be opened one after the other", async () => {
  const workspace = await adas();
  await writeFile(join(workspace.folder, "file"), "mine");
  const before = await open("/dev/null");
  await before.close();
  for (let count = 0; count < 200; count += 1) {
    await (await workspace.openOutput("/tmp/ada/file"))[Symbol.asyncDispose]();
    await refusal(workspace, "/tmp/ada/folder/../x");
  }
  const after = await open("/dev/null");
  expect(after.fd).toBeLessThanOrEqual(before.fd + 20);
  await after.close();
  await rm(workspace.folder, { recursive: true });
});
