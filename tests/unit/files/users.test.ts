/** No user reaches another's bytes: by names, ids, paths, arguments, results or addresses. */
import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { artifactHandler } from "../../../web/src/server/artifacts/handler.js";
import { ADA, BOB, openLab, type Lab } from "./lab.js";

const SECRET = "the-secret-of-bob";
const MARK = /the-secret-of-bob|dGhlLXNlY3JldC1vZi1ib2/;

/** What belongs to bob: names, ids, paths and addresses of it. */
interface Bobs {
  readonly names: readonly string[];
  readonly ids: readonly string[];
  readonly paths: readonly string[];
}

async function bobs({ userFiles, call, root }: Lab): Promise<Bobs> {
  const files = userFiles.storage(BOB);
  await files.put("secret.txt", SECRET);
  await files.put("plan.csv", `id,${SECRET}\n`);
  await call("write", { name: "made.txt", content: SECRET }, BOB);
  await call("echo", { filename: "secret.txt" }, BOB);
  const list = await files.list();
  return {
    names: list.map(({ name }) => name),
    ids: list.map(({ id }) => id),
    paths: [`${root}/bob/made.txt`, `${root}/bob/input_files/secret.txt`],
  };
}

/** Ways that lead to bob's folder from ada's own. */
async function planted(root: string, paths: readonly string[]): Promise<string[]> {
  await mkdir(`${root}/ada`, { recursive: true, mode: 0o700 });
  const own = paths.map((_, at) => [`${root}/ada/soft${at}`, `${root}/ada/hard${at}`] as const);
  for (const [at, [soft, hard]] of own.entries()) {
    await symlink(paths[at] ?? "", soft);
    await link(paths[at] ?? "", hard);
  }
  await symlink(`${root}/bob`, `${root}/ada/folder`);
  const through = [`${root}/ada/folder/made.txt`, `${root}/ada/../bob/made.txt`, `${root}/ada/./../bob/made.txt`];
  return [...own.flat(), ...through, ...paths];
}

describe("ada", () => {
  let ours: Lab & AsyncDisposable;
  let theirs: Bobs;
  let ways: readonly string[];
  beforeAll(async () => {
    ours = await openLab();
    theirs = await bobs(ours);
    ways = await planted(ours.root, theirs.paths);
    await writeFile(`${ours.root}/ada/own.txt`, "ada's own");
  });
  afterAll(() => ours[Symbol.asyncDispose]());

  test("reaches nothing of bob's, whatever she names, and bob's stays as it is", async () => {
    const word = fc.oneof(
      fc.constantFrom(...theirs.names, ...theirs.ids, ...ways),
      fc.constantFrom(...theirs.ids).map((id) => `artifact://${id}`),
      fc.constantFrom(...theirs.ids).map((id) => `artifact://${id}?as=text`),
      fc
        .constantFrom(...theirs.names)
        .chain((name) => fc.constantFrom(`../bob/${name}`, `/tmp/bob/${name}`, `..\\bob\\${name}`)),
    );
    const attempts = fc.oneof(
      word.map((filename) => ["echo", { filename }] as const),
      word.map((filename) => ["length", { filename, username: "bob" }] as const),
      word.map((name) => ["echo", { filenames: [name, "own.txt"] }] as const),
      word.map((note) => ["echo", { note, username: "bob" }] as const),
      word.map((path) => ["path", { path, username: "bob" }] as const),
      word.map((id) => ["forge", { id }] as const),
      word.map((uri) => ["artifact_read", { uri, bytes: "0-100" }] as const),
      word.map((uri) => ["artifact_read", { uri }] as const),
    );
    await fc.assert(
      fc.asyncProperty(attempts, async ([tool, args]) => {
        const result = await ours
          .call(tool, args, ADA)
          .catch((error: unknown) => ({ text: String(error), display: [] }));
        expect(`${result.text}${JSON.stringify(result.display ?? "")}`).not.toMatch(MARK);
        for (const { name } of await ours.userFiles.storage(ADA).list()) {
          const kept = await new Response(await ours.userFiles.storage(ADA).open(name)).text();
          expect(kept).not.toMatch(MARK);
        }
      }),
      { numRuns: 150 },
    );
    const still = await ours.userFiles.storage(BOB).list();
    expect(still.map(({ id }) => id)).toEqual(theirs.ids);
  });

  test("is served nothing of bob's by an address", async () => {
    const store = ours.userFiles.within(ours.store, "files");
    const handle = artifactHandler({ store, scope: (request) => (request.headers.has("bob") ? BOB : ADA), base: "/" });
    for (const id of theirs.ids) {
      for (const part of ["", "/meta", "?download"]) {
        const url = `https://example.com/artifacts/${id}${part}`;
        const response = await handle(new Request(url));
        expect(response?.status).toBe(404);
        expect(await response?.text()).not.toMatch(MARK);
        expect((await handle(new Request(url, { headers: { bob: "" } })))?.status).toBe(200);
      }
    }
  });

  test("has a session context and a list without bob's names", async () => {
    const prompt = await ours.userFiles.prompt("?", ADA);
    for (const name of theirs.names) expect(prompt).not.toContain(name);
  });

  test("can neither remove, rename nor overwrite what is bob's", async () => {
    const files = ours.userFiles.storage(ADA);
    for (const name of [...theirs.names, ...theirs.ids, ...theirs.paths]) {
      expect(await files.remove(name)).toBe(false);
      await expect(files.rename(name, "mine.txt")).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    }
    await files.put("secret.txt", "ada's");
    expect(await new Response(await ours.userFiles.storage(BOB).open("secret.txt")).text()).toBe(SECRET);
    await files.remove("secret.txt");
  });

  test("of one tenant is another than ada of another", async () => {
    await ours.userFiles.storage({ user_id: "ada", tenant_id: "acme" }).put("acme.txt", SECRET);
    for (const tenant_id of [null, "globex", "acme "]) {
      expect(await ours.userFiles.storage({ user_id: "ada", tenant_id }).find("acme.txt")).toBeNull();
    }
  });
});
