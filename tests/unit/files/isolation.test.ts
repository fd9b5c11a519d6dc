/** Servers of users' files under bubblewrap: each user has a process that sees one folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { localWorkspaces } from "../../../web/src/files/local-workspaces.js";
import { ROOT } from "../cli/command.js";
import { ADA, BOB, lab, type Lab } from "./lab.js";
import { whyNoSandbox } from "./sandboxes.js";

const reason = await whyNoSandbox();
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

  test("is refused to nobody", async () => {
    const ours = await sandboxedLab();
    await expect(ours.call("echo", {}, {})).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
    await ours.node.close();
    await expect(ours.node.connect({})).rejects.toMatchObject({ code: "E_TOOL_AUTH" });
  });
});
