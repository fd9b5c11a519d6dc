import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PNG } from "../core/samples.js";
import { listed, type Ended, type RunOptions, sluice } from "./command.js";
import { sluiceHere } from "./in-process.js";

describe("sluice files", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-files-"));
    onTestFinished(() => rm(folder, { recursive: true }));
  });
  const files = (words: readonly string[], { input }: Pick<RunOptions, "input"> = {}): Promise<Ended> => {
    const args = ["files", ...words, "--store", join(folder, "store")];
    return input === undefined ? sluiceHere(args) : sluice(args, { input });
  };

  test("keeps what is put, lists it with its type, and gives it back byte for byte", async () => {
    await writeFile(join(folder, "picture.png"), PNG);
    expect(await files(["put", join(folder, "picture.png"), "--user", "ada"])).toEqual({
      code: 0,
      stdout: "picture.png\n",
      stderr: "",
    });
    expect((await files(["list", "--user", "ada"])).stdout).toBe(
      `picture.png\timage/png\t${PNG.length}\tuploaded\t1\t64 × 48\n`,
    );
    const target = join(folder, "again.png");
    expect((await files(["get", "../picture.png", "--user", "ada", "-o", target])).code).toBe(0);
    expect(new Uint8Array(await readFile(target))).toEqual(new Uint8Array(PNG));
  });

  test("takes standard input under a name that is made fit; versions are counted, and names changed", async () => {
    await files(["put", "--user", "ada", "--as", "..\\..\\notes.txt"], { input: "one" });
    const { stdout } = await files(["put", "--user", "ada", "--as", "notes.txt", "--json"], { input: "two" });
    expect(JSON.parse(stdout)).toMatchObject([{ name: "notes.txt", versions: 2, size_bytes: 3 }]);
    expect((await files(["rename", "notes.txt", "a/b.txt", "--user", "ada"])).stdout).toBe("b.txt\n");
    expect((await files(["get", "b.txt", "--user", "ada"])).stdout).toBe("two");
    expect((await files(["rm", "b.txt", "c.txt", "--user", "ada"])).code).not.toBe(0);
    expect((await files(["list", "--user", "ada", "--json"])).stdout).toBe("[]\n");
  });

  test("shows no user another's files, whatever the two are called", async () => {
    await files(["put", "--user", "ada", "--as", "secret.txt"], { input: "hush" });
    for (const user of ["bob", "ada ", "ADA", "../ada"]) {
      expect((await files(["list", "--user", user])).stdout).toBe("");
      expect(await files(["get", "secret.txt", "--user", user])).toMatchObject({ stdout: "" });
    }
    expect((await files(["list", "--user", "ada", "--tenant", "other"])).stdout).toBe("");
  });

  test("says what is meant where there is no such file", async () => {
    await files(["put", "--user", "ada", "--as", "report.pdf"], { input: "x" });
    const { code, stderr } = await files(["get", "raport.pdf", "--user", "ada"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('did you mean "report.pdf"?');
  });

  test("keeps files above --base64-size-limit-mb in --large-store, and shows those of both as one", async () => {
    const large = join(folder, "large");
    const sizes = ["--large-store", large, "--base64-size-limit-mb", "0.001"];
    await files(["put", "--user", "ada", "--as", "small.txt", ...sizes], { input: "x" });
    await files(["put", "--user", "ada", "--as", "large.txt", ...sizes], { input: "x".repeat(2000) });
    const kept = [...(await listed(join(folder, "store"))), ...(await listed(large))];
    expect(kept.map(({ filename }) => filename)).toEqual(["small.txt", "large.txt"]);
    const { stdout } = await files(["list", "--user", "ada", "--large-store", large]);
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(["large.txt", "small.txt", ""]);
    const got = await files(["get", "large.txt", "--user", "ada", "--large-store", large]);
    expect(got.stdout).toBe("x".repeat(2000));
  });

  test("refuses a file above --max-file-size-mb, of which nothing stays", async () => {
    const { code, stderr } = await files(["put", "--user", "ada", "--as", "a.txt", "--max-file-size-mb", "0.001"], {
      input: "x".repeat(2000),
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("and the limit is 1048")]);
    expect((await files(["list", "--user", "ada"])).stdout).toBe("");
  });

  test("says what a size is", async () => {
    const { code, stderr } = await files(["put", "--user", "ada", "--as", "a", "--max-file-size-mb", "1GB"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--max-file-size-mb must be a number of MiB from")]);
  });

  test("takes no address for a folder", async () => {
    const { code, stderr } = await sluiceHere(["files", "list", "--user", "ada", "--store", "s3://bucket/prefix"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--store takes a folder here, not an address")]);
  });
});
