import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { endedOwner } from "../artifacts/ended.js";
import { listed, Room, sluice, type ListedRef } from "./command.js";
import { sluiceHere } from "./in-process.js";
import { PDF, PNG, SCREENSHOT, sha256, WORKBOOK } from "./results.js";

let full: Room;
beforeAll(async () => {
  full = await Room.open();
  const transform = ["transform", "--store", full.store];
  await sluice(transform, { input: SCREENSHOT });
  await sluice([...transform, "--scope", "session=s1"], { input: WORKBOOK });
  await sluice([...transform, "--scope", "session=s2"], { input: WORKBOOK });
});
afterAll(() => full[Symbol.asyncDispose]());

/** A store with a PDF in two scopes and a PNG in none. */
async function filled(): Promise<Room> {
  const room = await Room.open();
  // With its hard links, which say what is still referred to.
  await promisify(execFile)("cp", ["-a", full.store, room.store]);
  return room;
}

describe("sluice artifacts, looking", () => {
  let room: Room;
  let pdf: ListedRef;
  let png: ListedRef;
  beforeAll(async () => {
    room = await filled();
    const refs = await listed(room.store);
    pdf = refs.find(({ sha256: hash }) => hash === sha256(PDF))!;
    png = refs.find(({ sha256: hash }) => hash === sha256(PNG))!;
  });
  afterAll(() => room[Symbol.asyncDispose]());

  test("list prints every scope, oldest first; --scope chooses one", async () => {
    const refs = await listed(room.store);
    expect(refs.map(({ id }) => id)).toEqual([png.id, pdf.id, pdf.id]);
    expect(Object.keys(refs[0] ?? {})).toEqual(
      expect.arrayContaining(["id", "sha256", "mime_type", "size_bytes", "filename"]),
    );
    expect((await listed(room.store, "--scope", "session_id=s2")).map(({ scope }) => scope["session_id"])).toEqual([
      "s2",
    ]);
  });

  test.each([
    ["--type", ["application/pdf"], 2],
    ["--type", ["image/*"], 1],
    ["--type", ["image"], 0],
    ["--namespace", ["artifact"], 3],
    ["--namespace", ["another"], 0],
    ["--since", ["1h"], 3],
    ["--since", ["0s"], 0],
    ["--since", ["2000-01-31"], 3],
    ["--since", ["2999-01-31T08:00Z"], 0],
    ["--since", ["1h", "--type", "IMAGE/PNG", "--scope", "user=nobody"], 0],
  ])("list %s %j shows what matches alone", async (option, words, count) => {
    expect(await listed(room.store, option, ...words)).toHaveLength(count);
  });

  test("list in a pipe gives tab-separated lines, also with options before the verb", async () => {
    const { stdout } = await sluiceHere(["artifacts", "--store", room.store, "list", "--scope", "session=s1"]);
    expect(stdout).toMatch(new RegExp(`^${pdf.id}\tapplication/pdf\t${PDF.length}\t[^\t]*\tsession_id=s1\n$`));
  });

  test("get writes the bytes to a file, to standard output, and by reference", async () => {
    const target = room.path("out.pdf");
    const got = await sluiceHere(["artifacts", "get", pdf.id, "--store", room.store, "-o", target]);
    expect(got).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(sha256(await readFile(target))).toBe(sha256(PDF));
    const uri = `artifact://${png.id}?type=image/png&size=${PNG.length}`;
    const json = await sluiceHere(["artifacts", "get", uri, "--store", room.store, "--output", target, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: png.id });
    expect(sha256(await readFile(target))).toBe(sha256(PNG));
    expect((await readdir(room.folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
    expect((await sluiceHere(["artifacts", "get", pdf.id, "--store", room.store])).stdout).toBe(PDF.toString());
  });

  test.each([
    ["0-4", PDF.subarray(0, 5)],
    [`${PDF.length - 6}-`, PDF.subarray(-6)],
    ["-6", PDF.subarray(-6)],
    ["9-9", PDF.subarray(9, 10)],
    [`${PDF.length - 6}-99999999999`, PDF.subarray(-6)],
    ["-99999999999", PDF],
  ])("get --range %s is what HTTP means by it", async (range, bytes) => {
    const target = room.path(`range${range}`);
    const { code } = await sluiceHere([
      "artifacts",
      "get",
      pdf.id,
      "--store",
      room.store,
      "--range",
      range,
      "-o",
      target,
    ]);
    expect(code).toBe(0);
    expect((await readFile(target)).equals(bytes)).toBe(true);
  });

  test("get refuses a range with no byte in it, with exit code 1", async () => {
    const { code, stderr } = await sluiceHere([
      "artifacts",
      "get",
      pdf.id,
      "--store",
      room.store,
      "--range",
      `${PDF.length}-`,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${PDF.length.toLocaleString("en")} bytes`);
  });

  test("get to a place that cannot be written exits 73", async () => {
    for (const target of [room.folder, room.path("no/such/folder.pdf")]) {
      expect((await sluiceHere(["artifacts", "get", pdf.id, "--store", room.store, "-o", target])).code).toBe(73);
    }
  });

  test("stat tells about one, in words and as JSON", async () => {
    const json = await sluiceHere(["artifacts", "stat", png.id, "--store", room.store, "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({ ...png, used_at: expect.any(Number) as unknown });
    const { stdout } = await sluiceHere(["artifacts", "stat", pdf.id, "--store", room.store, "--scope", "session=s2"]);
    expect(stdout).toContain("session_id=s2");
    expect(stdout).toContain(`${PDF.length.toLocaleString("en")} bytes`);
  });

  test("an id that is nowhere exits 1, whatever its form", async () => {
    for (const id of ["artifact_000000000000", "../../etc/passwd", "x".repeat(5000), "\u001b[31m"]) {
      for (const verb of ["get", "stat", "delete"]) {
        const { code, stdout, stderr } = await sluiceHere(["artifacts", verb, id, "--store", room.store]);
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toMatch(/^sluice: there is no artifact .* in this store/);
        expect(stderr).not.toContain("\u001b");
      }
    }
    const other = await sluiceHere(["artifacts", "get", png.id, "--store", room.store, "--scope", "session=s1"]);
    expect(other.code).toBe(1);
  });

  test("a store that is a file exits 74, a folder that is not there is empty", async () => {
    const file = await room.write("file", "");
    expect((await sluiceHere(["artifacts", "list", "--store", file])).code).toBe(74);
    expect(await sluiceHere(["artifacts", "list", "--json", "--store", room.path("none")])).toMatchObject({
      code: 0,
      stdout: "[]\n",
    });
  });
});

describe("sluice artifacts, changing", () => {
  test("delete takes one scope's away, or every scope's", async () => {
    await using room = await filled();
    const id = (await listed(room.store, "--scope", "session=s1"))[0]!.id;
    expect((await sluiceHere(["artifacts", "delete", id, "--store", room.store, "--scope", "session=s1"])).code).toBe(
      0,
    );
    expect((await listed(room.store)).filter((ref) => ref.id === id)).toHaveLength(1);
    const both = await sluiceHere([
      "artifacts",
      "delete",
      id,
      "artifact_000000000000",
      "--json",
      "--store",
      room.store,
    ]);
    expect(both.code).toBe(1);
    expect(JSON.parse(both.stdout)).toEqual([
      { id, deleted: true },
      { id: "artifact_000000000000", deleted: false },
    ]);
    expect((await listed(room.store)).map(({ sha256: hash }) => hash)).toEqual([sha256(PNG)]);
  });

  test("gc says what it removed", async () => {
    await using room = await filled();
    const { code, stdout } = await sluiceHere(["artifacts", "gc", "--store", room.store, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ blobs: 0, bytes: 0 });
    expect((await sluiceHere(["artifacts", "gc", "--store", room.store])).stdout).toBe("there was nothing to remove\n");
    expect(await listed(room.store)).toHaveLength(3);
  });

  test("gc says how many bytes of a process that was killed it removed", async () => {
    await using room = await filled();
    const temporaries = join(room.store, "tmp");
    const outputs: string[] = [];
    for (const words of [[], ["--json"]]) {
      const left = join(temporaries, `${await endedOwner(temporaries)}-${"0".repeat(16)}`);
      await mkdir(left);
      await writeFile(join(left, "blob"), new Uint8Array(3 * 1024 * 1024));
      outputs.push((await sluiceHere(["artifacts", "gc", "--store", room.store, ...words])).stdout);
    }
    expect(outputs[0]).toBe("removed 1 unfinished file: 3.0 MB freed\n");
    expect(JSON.parse(outputs[1] ?? "")).toEqual({ artifacts: 0, blobs: 0, bytes: 3 * 1024 * 1024, temporaries: 1 });
  });

  test("gc holds a store to the limits of a configuration", async () => {
    await using room = await filled();
    const config = join(room.store, "..", "limits.json");
    await writeFile(config, JSON.stringify({ retention: { ttl_seconds: null, max_total_bytes: 1 } }));
    const { stdout } = await sluiceHere(["artifacts", "gc", "--store", room.store, "--config", config]);
    expect(stdout).toMatch(/^removed 3 artifacts: /);
    expect(await listed(room.store)).toEqual([]);
    await writeFile(config, JSON.stringify({ retention: { ttl: 1 } }));
    const refused = await sluiceHere(["artifacts", "gc", "--store", room.store, "--config", config]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("retention.ttl") as unknown });
    await writeFile(config, JSON.stringify({ retension: { ttl_seconds: 1 } }));
    const misspelt = await sluiceHere(["artifacts", "gc", "--store", room.store, "--config", config]);
    expect(misspelt).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("retention?") as unknown });
  });

  test("gc --json counts the bytes of what expired", async () => {
    await using room = await filled();
    const config = join(room.store, "..", "limits.json");
    await writeFile(config, JSON.stringify({ retention: { ttl_seconds: null, max_total_bytes: 1 } }));
    const { stdout } = await sluiceHere(["artifacts", "gc", "--store", room.store, "--config", config, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ artifacts: 3, blobs: 0, bytes: expect.any(Number) as number, temporaries: 0 });
    expect((JSON.parse(stdout) as { bytes: number }).bytes).toBeGreaterThan(0);
  });

  test("purge needs --yes where nobody can be asked, and then leaves nothing", async () => {
    await using room = await filled();
    const asked = await sluiceHere(["artifacts", "purge", "--store", room.store]);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("--yes");
    expect(await listed(room.store)).toHaveLength(3);
    expect((await sluiceHere(["artifacts", "purge", "--store", room.store, "--yes"])).code).toBe(0);
    expect(await readdir(room.folder)).toEqual([]);
  });

  test("purge refuses a folder that is not a store, and touches nothing in it", async () => {
    await using room = await Room.open();
    await room.write("precious.txt", "x");
    const { code, stderr } = await sluiceHere(["artifacts", "purge", "--yes", "--store", room.folder]);
    expect(code).toBe(1);
    expect(stderr).toContain("not a Sluice store");
    expect(await readdir(room.folder)).toEqual(["precious.txt"]);
  });
});

test("a damaged artifact, which no list shows, is deleted by its id", async () => {
  const room = await Room.open();
  try {
    await sluice(["transform", "--store", room.store], { input: SCREENSHOT });
    const [ref] = await listed(room.store);
    const files = await readdir(room.store, { recursive: true, withFileTypes: true });
    const record = files.find(({ name }) => name === "ref.json")!;
    await writeFile(join(record.parentPath, record.name), "{bad");
    expect(await listed(room.store)).toEqual([]);
    expect((await sluiceHere(["artifacts", "delete", ref?.id ?? "", "--store", room.store])).code).toBe(0);
    expect((await sluice(["transform", "--store", room.store], { input: SCREENSHOT })).code).toBe(0);
    expect(await listed(room.store)).toMatchObject([{ id: ref?.id }]);
  } finally {
    await room[Symbol.asyncDispose]();
  }
});
