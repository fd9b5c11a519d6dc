/** Commands and servers under bubblewrap: each sees one user's folder. */
import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildSandboxCommand, localWorkspaces } from "../../../web/src/files/local-workspaces.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";
import { ROOT } from "../cli/command.js";
import { ADA, BOB, lab, type Lab } from "./lab.js";
import { whyNoSandbox } from "./sandboxes.js";
import { emptyFolder } from "../../support/folder.js";
import { adas } from "./workspace/rooms.js";

const reason = await whyNoSandbox();

/** What a line of shell prints in Ada's sandbox. */
async function within(workspace: Workspace, line: string, hide: readonly string[] = []): Promise<string> {
  const [program = "", ...args] = await buildSandboxCommand(["sh", "-c", line], { workspace, hide });
  const { stdout } = await promisify(execFile)(program, args).catch((error: unknown) => error as { stdout: string });
  return stdout.trim();
}

/** A folder that is not in /tmp. */
async function elsewhere(): Promise<string> {
  const folder = await mkdtemp("/var/tmp/sluice-sandbox-");
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe.skipIf(reason !== undefined)("a command in a sandbox", () => {
  test("writes to its user's folder, where the host finds what it wrote", async () => {
    const workspace = await adas();
    expect(await within(workspace, 'echo mine > /tmp/ada/out && mkdir "$TMPDIR/deep" && cat /tmp/ada/out')).toBe(
      "mine",
    );
    await using file = await workspace.openOutput("/tmp/ada/out");
    expect(await new Response(file.stream()).text()).toBe("mine\n");
    expect((await readdir(workspace.folder)).sort()).toEqual(["deep", "input_files", "out"]);
  });

  test("writes nowhere else", async () => {
    const home = await elsewhere();
    const folders = [
      "/",
      "/etc",
      "/home",
      "/root",
      "/usr",
      "/var",
      "/var/tmp",
      "/dev",
      "/dev/shm",
      "/tmp",
      "/run",
      "/sys",
      home,
    ];
    const line = `for f in ${folders.join(" ")}; do [ -d $f ] && touch $f/.sluice && echo $f; done 2>/dev/null`;
    expect(await within(await adas(), line)).toBe("");
    expect(await within(await adas(), "find /proc /sys -maxdepth 3 -type f -writable 2>/dev/null | head -5")).toBe("");
    expect(await within(await adas(), "echo x > /dev/null && echo thrown away")).toBe("thrown away");
  });

  test("cannot make anything writable again", async () => {
    const tries = [
      "mount -o remount,rw /",
      "umount /tmp/ada",
      "mknod /tmp/ada/disk b 8 0",
      "chroot /",
      "unshare -Ur true",
    ];
    const line = tries.map((each) => `${each} && echo done`).join("; ");
    expect(await within(await adas(), `(${line}) 2>/dev/null`)).toBe("");
    expect(await within(await adas(), "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")).toMatch(
      /^CapEff:\s0{16}\nNoNewPrivs:\s1$/,
    );
  });

  test("reads what others may read", async () => {
    expect(await within(await adas(), "cat /etc/passwd")).toBe((await readFile("/etc/passwd", "utf8")).trim());
  });

  test.each([
    ["in the folder for temporary files", emptyFolder],
    ["elsewhere", elsewhere],
  ])("sees no other user's folder, no store and no service, the folders being %s", async (_, rooted) => {
    const root = await rooted();
    const [workspace, bobs] = await Promise.all(["ada", "bob"].map((name) => Workspace.open({ root, name })));
    const [store, link] = [join(await elsewhere(), "store"), join(await elsewhere(), "link")];
    await mkdir(join(store, "refs"), { recursive: true });
    await symlink(store, link);
    for (const folder of [bobs!.folder, store]) await writeFile(join(folder, "secret"), "secret");
    const hide = [link, join(store, "refs"), "/tmp"];
    const line = `cat ${bobs!.folder}/secret ${store}/secret ${link}/secret /tmp/bob/secret; ls ${root} ${store}; ls /tmp`;
    expect(await within(workspace!, `(${line}) 2>/dev/null`, hide)).not.toMatch(/secret|bob$/m);
    expect(await within(workspace!, "ls /tmp", hide)).toBe("ada");
    expect(await within(workspace!, "find /run -type s")).toBe("");
  });

  test("neither sees nor reaches processes outside", async () => {
    const sleeper = spawn("sleep", ["1000"]);
    onTestFinished(() => void sleeper.kill("SIGKILL"));
    const { pid = 0 } = sleeper;
    const line = `ls -d /proc/${pid} /proc/${process.pid}; kill -0 ${pid} && echo reached; kill -KILL ${pid}; cat /proc/${pid}/mem`;
    expect(await within(await adas(), `(${line}) 2>/dev/null`)).toBe("");
    expect(await within(await adas(), "trap '' TERM; kill -TERM -1; echo over")).toBe("over");
    expect([sleeper.exitCode, sleeper.signalCode]).toEqual([null, null]);
  });

  test("cannot lead the host out of the workspace by links that it leaves there", async () => {
    const workspace = await adas();
    await within(
      workspace,
      "ln -s /etc/passwd /tmp/ada/link; ln /etc/passwd /tmp/ada/hard 2>/dev/null; mkfifo /tmp/ada/pipe",
    );
    expect(await readdir(workspace.folder)).not.toContain("hard");
    for (const name of ["link", "pipe"]) {
      await expect(workspace.openOutput(`/tmp/ada/${name}`)).rejects.toMatchObject({ code: "E_INVALID_PATH" });
    }
  });
});

describe("without a sandbox no command is started", () => {
  test.skipIf(reason === undefined || process.platform !== "linux")("where none can be made", async () => {
    await expect(buildSandboxCommand(["true"], { workspace: await adas() })).rejects.toMatchObject({
      code: "E_MISUSE",
    });
    expect(reason).toMatch(/may not make namespaces|no bubblewrap/);
  });

  test.skipIf(process.platform !== "linux").each([
    ["bwrap: No permissions to create new namespace, likely because", /may not create namespaces here/],
    [
      "bwrap: Can't bind mount /oldroot/home/ada/x on /newroot/y: Permission denied",
      /says: Can't bind mount … on …: Permission denied/,
    ],
    ["something else", /could not be started/],
  ])("when bubblewrap says %j", async (said, sentence) => {
    const folder = await emptyFolder();
    const program = join(folder, "bwrap");
    await writeFile(program, `#!/bin/sh\ncat >&2 <<'END'\n${said}\nEND\nexit 1\n`);
    await chmod(program, 0o755);
    const refused = await buildSandboxCommand(["true"], { workspace: await adas(), program }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: "E_MISUSE" });
    expect((refused as Error).message).toMatch(sentence);
    expect((refused as Error).message).toMatch(/was not started.*package bubblewrap/);
  });

  test("nor without a command, with a folder to hide that is not there, or a workspace that is told otherwise", async () => {
    const workspace = await adas();
    const program = "bwrap";
    await expect(buildSandboxCommand([], { workspace, program })).rejects.toMatchObject({ path: "argv" });
    if (process.platform !== "linux") return;
    for (const folder of [join(workspace.root, "none"), "/", "/etc/passwd"]) {
      await expect(buildSandboxCommand(["true"], { workspace, program, hide: [folder] })).rejects.toMatchObject({
        code: "E_INVALID_ARGUMENT",
        path: "hide",
      });
    }
    const told = await adas({ shownRoot: "/data" });
    await expect(buildSandboxCommand(["true"], { workspace: told, program })).rejects.toMatchObject({
      path: "workspace",
    });
  });
});

/** The server's own program could not be seen. */
const isHidden = ROOT.startsWith("/tmp/");

async function sandboxedLab(): Promise<Lab> {
  const root = await mkdtemp("/var/tmp/sluice-isolation-");
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return lab({ files: localWorkspaces({ root, sandbox: true }), config: { env: { LAB_ROOT: "/tmp" } } });
}

/** What a tool of a user's came to. */
async function came({ call }: Lab, tool: string, path: string, scope = ADA): Promise<unknown> {
  const { value } = await call(tool, { path }, scope);
  return (value as { results: { came: unknown } }).results.came;
}

describe.skipIf(reason !== undefined || isHidden)("a source in a sandbox", () => {
  test("takes files from and gives files to the user's own folder, which is /tmp/{username} there", async () => {
    const ours = await sandboxedLab();
    await ours.userFiles.storage(ADA).put("sales.csv", "a,b\n1,2\n");
    expect((await ours.call("length", { filename: "sales.csv" })).value).toEqual({ results: { length: 8 } });
    const echoed = (await ours.call("echo", { filename: "sales.csv" })).text;
    expect(echoed).toContain(Array.from("/tmp/ada/input_files/sales.csv").toReversed().join(""));
    expect(echoed).not.toContain("/tmp/ada");
    await ours.call("write", { name: "out.txt", content: "made" });
    expect(await new Response(await ours.userFiles.storage(ADA).open("out.txt")).text()).toBe("made");
  });

  test("neither sees another user's folder nor writes anywhere else", async () => {
    const ours = await sandboxedLab();
    await ours.call("write", { name: "secret.txt", content: "bob's" }, BOB);
    expect(await came(ours, "try_to_read", "/tmp/bob/secret.txt", BOB)).toBe("bob's");
    expect(await came(ours, "try_to_read", "/tmp/bob/secret.txt")).toBe("ENOENT");
    for (const path of ["/tmp/x", "/tmp/bob/x", "/var/tmp/x", "/etc/x"]) {
      expect(await came(ours, "try_to_write", path)).toMatch(/EROFS|EACCES|ENOENT|EPERM/);
    }
    expect(await came(ours, "try_to_write", "/tmp/ada/x")).toBe("written");
  });

  test("has a write that was denied logged, with the tool, the user and the time", async () => {
    const ours = await sandboxedLab();
    expect((await ours.call("overwrite", { path: "/etc/planted" })).isError).toBe(true);
    expect((await ours.call("overwrite", { path: "/tmp/ada/mine" })).isError).toBe(false);
    expect(ours.events.filter(({ kind }) => kind === "refused")).toMatchObject([
      {
        where: "write",
        tool: "lab.overwrite",
        user_id: "ada",
        time: expect.stringMatching(/^\d{4}-/) as string,
        refused: "/etc/planted",
        error: { code: "E_STORE_DENIED" },
      },
    ]);
  });

  test("is refused to no user", async () => {
    const ours = await sandboxedLab();
    await expect(ours.call("echo", {}, {})).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
    await ours.node.close();
    await expect(ours.node.connect({})).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
  });
});
