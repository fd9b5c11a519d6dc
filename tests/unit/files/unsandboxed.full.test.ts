/** What holds where no sandbox can be made, and where `/proc` cannot be seen: tried in namespaces of their own. */
import { execFile, execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { checkSandbox } from "../../../web/src/files/local-workspaces.js";
import { emptyFolder } from "../../support/folder.js";
import { programOf } from "../../support/program.js";
import { COMMAND, sluice } from "../cli/command.js";

/** A line of shell in which nobody, root included, can make a namespace. */
const FORBIDDEN =
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"';
/** The same with an empty `/proc`. */
const HIDDEN = 'mount -t tmpfs none /proc && exec "$@"';

const canForbid = can("-Ur", FORBIDDEN);
const canHide = can("-Urm", HIDDEN);

function can(namespaces: string, line: string): boolean {
  try {
    execFileSync("unshare", [namespaces, "sh", "-c", line, "sh", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function within(namespaces: string, line: string, words: readonly string[]): Promise<Ended> {
  try {
    const ended = await promisify(execFile)("unshare", [
      namespaces,
      "sh",
      "-c",
      line,
      "sh",
      process.execPath,
      ...words,
    ]);
    return { code: 0, ...ended };
  } catch (error) {
    return error as Ended;
  }
}

/** A configuration whose source takes files, in a sandbox. */
async function configured(folder: string): Promise<string> {
  const source = { name: "lab", transport: "mcp", connection: `"${process.execPath}" server.mjs`, user_files: true };
  const path = join(folder, "serve.json");
  await writeFile(path, JSON.stringify({ sources: [source], files: { sandbox: true } }));
  return path;
}

const REFUSED = /cannot be sandboxed: .*Use Linux with the package bubblewrap/;

describe("where no sandbox can be made", () => {
  test.each(["darwin", "win32"] as const)("on %s, that is said before anything is started", async (platform) => {
    await expect(checkSandbox(platform)).rejects.toMatchObject({
      code: "E_MISUSE",
      message: expect.stringMatching(/bubblewrap only runs on Linux.*Use Linux/),
    });
  });

  test("a server that is to have them does not start", async () => {
    const folder = await emptyFolder();
    const words = ["serve", "--listen", "127.0.0.1:0", "--config", await configured(folder)];
    const { code, stderr } = await sluice(words, { env: { PATH: folder } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/"files\.sandbox" cannot be had here: .*there is no bubblewrap \(bwrap\) on the PATH/);
  });

  test.runIf(canForbid)("since namespaces are forbidden, neither a command nor a server starts", async () => {
    const folder = await emptyFolder();
    const proof = join(folder, "proof");
    const run = [COMMAND, "run", "--user", "ada", "--tmp", folder, "--", "/bin/sh", "-c", `echo > ${proof}`];
    const refused = await within("-Ur", FORBIDDEN, run);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(REFUSED);
    expect(refused.stderr).toContain("bubblewrap may not create namespaces here");
    expect(await readdir(folder)).not.toContain("proof");
    const serve = [COMMAND, "serve", "--listen", "127.0.0.1:0", "--config", await configured(folder)];
    expect(await within("-Ur", FORBIDDEN, serve)).toMatchObject({ code: 2, stderr: expect.stringMatching(REFUSED) });
  });
});

describe.runIf(canHide)("where /proc cannot be seen", () => {
  const program = programOf(new URL("unsandboxed-program.ts", import.meta.url));

  test("files are taken that a tool wrote, and links, hard links, folders and ways out are not", async () => {
    const root = await emptyFolder();
    const elsewhere = join(root, "elsewhere");
    await writeFile(elsewhere, "secret");
    const ada = join(root, "ada");
    await mkdir(join(ada, "deep"), { recursive: true, mode: 0o700 });
    await mkdir(join(ada, "input_files"), { mode: 0o700 });
    await writeFile(join(ada, "deep", "out.txt"), "mine");
    await symlink(elsewhere, join(ada, "link"));
    await symlink(root, join(ada, "way"));
    await link(elsewhere, join(ada, "second"));
    const names = ["deep/out.txt", "link", "way/elsewhere", "second", "deep", "../elsewhere"];
    const { code, stdout } = await within("-Urm", HIDDEN, [program.path, root, ...names]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      isProcHidden: true,
      outcomes: ["mine", ...names.slice(1).map(() => "E_INVALID_PATH")],
      left: [],
      stored: "kept",
    });
    expect(await readFile(elsewhere, "utf8")).toBe("secret");
  });
});
