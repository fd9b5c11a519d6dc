/** What proxies saved, counted by many processes in a folder that anyone may have written to. */
import { appendFile, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SavingsCounter, savingsIn } from "../../../../web/src/cli/store/savings.js";
import { emptyFolder } from "../../../support/folder.js";
import { sluice } from "../command.js";

async function count(folder: string, namespace: string, calls: number): Promise<void> {
  await using counter = new SavingsCounter(folder, namespace);
  for (let call = 0; call < calls; call += 1)
    counter.add("codex", { calls: 1, bytes_in: 100, bytes_shown: 40, bytes_out: 10 });
}

const plain = async (folder: string): Promise<object> =>
  Object.fromEntries(
    [...(await savingsIn(folder))].map(([namespace, hosts]) => [namespace, Object.fromEntries(hosts)]),
  );

test("counts by namespace and host, over all counters there were", async () => {
  const folder = await emptyFolder();
  expect([...(await savingsIn(folder))]).toEqual([]);
  await Promise.all([count(folder, "files", 2), count(folder, "Files", 1), count(folder, "files", 3)]);
  await count(folder, "quiet", 0);
  expect(await plain(folder)).toEqual({
    files: { codex: { calls: 5, bytes_in: 500, bytes_shown: 200, bytes_out: 50 } },
    Files: { codex: { calls: 1, bytes_in: 100, bytes_shown: 40, bytes_out: 10 } },
  });
});

test("a log that grew is summed up, and nothing of it is lost", async () => {
  const folder = await emptyFolder();
  const line = `${JSON.stringify({ calls: 1, bytes_in: 100, bytes_out: 10 })}\n`;
  await mkdir(join(folder, "savings"));
  for (let round = 1; round <= 4; round += 1) {
    await appendFile(join(folder, "savings", "files.log"), line.repeat(2000));
    await count(folder, "files", 1);
    const { unknown, codex } = Object.fromEntries((await savingsIn(folder)).get("files") ?? []);
    // The lines of an older Sluice name no host, and what it would have shown.
    expect(unknown).toEqual({
      calls: 2000 * round,
      bytes_in: 200_000 * round,
      bytes_shown: 200_000 * round,
      bytes_out: 20_000 * round,
    });
    expect(codex).toMatchObject({ calls: round });
  }
  const files = await readdir(join(folder, "savings"));
  expect(files.length).toBeLessThanOrEqual(2);
  for (const name of files) expect((await stat(join(folder, "savings", name))).size).toBeLessThan(200_000);
});

test("foreign lines count nothing, and do not stop others from counting", async () => {
  const folder = await emptyFolder();
  await mkdir(join(folder, "savings"));
  const lines = [
    "",
    "{",
    "[]",
    '{"host":"../x","calls":1,"bytes_in":1,"bytes_out":1}',
    '{"calls":-1,"bytes_in":1,"bytes_out":1}',
    '{"calls":1e99,"bytes_in":1,"bytes_out":1}',
  ];
  await writeFile(join(folder, "savings", "files.log"), `${lines.join("\n")}\n`);
  await writeFile(join(folder, "savings", "far.log"), Buffer.alloc(2 * 1024 * 1024, 32));
  await writeFile(join(folder, "savings", "../secret"), '{"calls":9,"bytes_in":9,"bytes_out":9}\n');
  await symlink(join(folder, "secret"), join(folder, "savings", "linked.log"));
  await count(folder, "files", 1);
  await count(folder, "linked", 1);
  expect(await plain(folder)).toEqual({
    files: { codex: { calls: 1, bytes_in: 100, bytes_shown: 40, bytes_out: 10 } },
    far: {},
    linked: {},
  });
});

/** A server whose tool answers with a PNG's first bytes and a megabyte behind them. */
const SERVER = `
  const data = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(2 ** 20)]).toString("base64");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const content = [method === "tools/call" ? { type: "image", mimeType: "image/png", data } : { type: "text", text: "ok" }];
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: { content } }) + "\\n");
  });
`;

test("a proxy counts what it kept out of results", async () => {
  const folder = join(await emptyFolder(), "store");
  const call = (id: number): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "shot" } })}\n`;
  const args = ["proxy", "--store", folder, "--namespace", "shots", "--", process.execPath, "-e", SERVER];
  const { code, stdout } = await sluice(args, { input: call(1) + call(2) });
  expect(code).toBe(0);
  const { calls, bytes_in, bytes_out } = (await savingsIn(folder)).get("shots")?.get("unknown") ?? {};
  expect(calls).toBe(2);
  expect(bytes_in).toBeGreaterThan(2 * 2 ** 20);
  expect(bytes_out).toBeGreaterThan(0);
  expect(bytes_out).toBeLessThanOrEqual(stdout.length);
});
