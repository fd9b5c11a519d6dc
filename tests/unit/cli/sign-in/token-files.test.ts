/** Tokens in files: the contract of every token store, and what files add to it. */
import { chmod, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TokenFiles } from "../../../../web/src/cli/sign-in/token-files.js";
import { tokenFolder } from "../../../../web/src/cli/store/folders.js";
import { describeTokenStore, tokenNamed } from "../../tools/auth/token-store-contract.js";

async function folder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "sluice-tokens-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return join(parent, "sluice", "tokens");
}

describeTokenStore("TokenFiles", async () => new TokenFiles(await folder()));

test("the folder is for its owner alone, and so is every file in it", async () => {
  const at = await folder();
  const files = new TokenFiles(at);
  await files.store("me", "github", tokenNamed("1"));
  await files.keepClient("github", { client_id: "c", redirect_uri: "http://127.0.0.1/callback", issuer: "https://a" });
  expect((await stat(at)).mode & 0o777).toBe(0o700);
  const names = await readdir(at);
  expect(names).toHaveLength(2);
  for (const name of names) expect((await stat(join(at, name))).mode & 0o777).toBe(0o600);
});

test("a file that others can read is refused with what to do", async () => {
  const at = await folder();
  const files = new TokenFiles(at);
  await files.store("me", "github", tokenNamed("1"));
  const [name = ""] = await readdir(at);
  await chmod(join(at, name), 0o644);
  await expect(files.get("me", "github")).rejects.toThrow(/chmod 600/);
});

test("a folder that others can write to is refused with what to do", async () => {
  const at = await folder();
  const files = new TokenFiles(at);
  await files.store("me", "github", tokenNamed("1"));
  await chmod(at, 0o770);
  await expect(files.store("me", "github", tokenNamed("2"))).rejects.toThrow(/chmod 700/);
});

test("what is no token is none", async () => {
  const at = await folder();
  const files = new TokenFiles(at);
  await files.store("me", "github", tokenNamed("1"));
  const [name = ""] = await readdir(at);
  for (const text of ["", "{", "[]", '{"access_token":1}', "null"]) {
    await writeFile(join(at, name), text);
    expect(await files.get("me", "github")).toBeNull();
  }
});

test("one process at a time renews a token, and one that was killed holds nobody up for long", async () => {
  const folderAt = await folder();
  const order: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
  };
  const all = ["a", "b", "c"].map((name) => new TokenFiles(folderAt).exclusively("me", "github", work(name)));
  await Promise.all(all);
  for (let at = 0; at < order.length; at += 2) expect(order[at + 1]).toBe(order[at]?.replace("begins", "ends"));
  await new TokenFiles(folderAt).exclusively("me", "github", async () => {
    // What is left of a process that was killed in here, long ago.
    const [lock = ""] = (await readdir(folderAt)).filter((name) => name.endsWith(".lock"));
    await utimes(join(folderAt, lock), new Date(0), new Date(0));
    await new TokenFiles(folderAt).exclusively("me", "github", work("d"));
  });
  expect(order.slice(-2)).toEqual(["d begins", "d ends"]);
});

test("the folder is where each system keeps configurations", () => {
  expect(tokenFolder({ XDG_CONFIG_HOME: "/x" }, "linux", "/home/ada")).toBe("/x/sluice/tokens");
  expect(tokenFolder({ XDG_CONFIG_HOME: "x" }, "linux", "/home/ada")).toBe("/home/ada/.config/sluice/tokens");
  expect(tokenFolder({}, "darwin", "/Users/ada")).toBe("/Users/ada/Library/Application Support/sluice/tokens");
});
