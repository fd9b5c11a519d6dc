/** `sluice resources`: what a source has to read. */
import { describe, expect, test } from "vitest";
import { listed, Room } from "../command.js";
import { sluiceHere } from "../in-process.js";
import { sha256 } from "../results.js";
import { configOf, everything, filesIn, scripted } from "./sources.js";

const read = (source: string, uri: string, ...more: readonly string[]): string[] => [
  "resources",
  "read",
  source,
  uri,
  ...more,
];

describe("lists", () => {
  test("of resources are lines with tabs, or an array", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(["resources", "list", "every", ...config]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^demo:\/\/resource\/static\/document\/features\.md\ttext\/markdown\t\tfeatures\.md$/m);
    const array = JSON.parse(
      (await sluiceHere(["resources", "list", "every", "--json", ...config])).stdout,
    ) as unknown[];
    expect(array).toHaveLength(stdout.trimEnd().split("\n").length);
    expect(array[0]).toMatchObject({ uri: expect.stringContaining("demo://") as string, mime_type: "text/markdown" });
  });

  test("of templates as well", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { stdout } = await sluiceHere(["resources", "templates", "every", ...config]);
    expect(stdout).toContain("demo://resource/dynamic/text/{resourceId}\ttext/plain\t");
    expect(
      JSON.parse((await sluiceHere(["resources", "templates", "every", "--json", ...config])).stdout),
    ).toHaveLength(2);
  });

  test("of a source without resources are a sentence, and exit 1", async () => {
    await using room = await Room.open();
    const config = await configOf(room, filesIn(room.folder));
    for (const verb of ["list", "templates"]) {
      const { code, stdout, stderr } = await sluiceHere(["resources", verb, "files", ...config]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^sluice: The source files has no resources: .*\n$/);
    }
  });
});

describe("reading", () => {
  const uri = "demo://resource/static/document/features.md";

  test("a short text prints it as it is, and stores it", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(read("every", uri, "--store", room.store, ...config));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# Everything Server/);
    expect((await listed(room.store)).map((ref) => ref.sha256)).toEqual([sha256(Buffer.from(stdout))]);
    expect(stderr).toMatch(/^sluice: every: text\/markdown, .* KB: stored as every_[0-9a-f]{12}\n$/);
  });

  test("with --json gives contents and references, for a scope", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const args = read("every", uri, "--json", "--scope", "user=u1", "--store", room.store, ...config);
    const { contents, artifacts } = JSON.parse((await sluiceHere(args)).stdout) as Record<string, unknown[]>;
    expect(contents).toMatchObject([{ kind: "text", uri, mime_type: "text/markdown" }]);
    expect(artifacts).toMatchObject([{ scope: { user_id: "u1" }, namespace: "every" }]);
  });

  test("several contents names each; bytes are stored and told", async () => {
    await using room = await Room.open();
    const pdf = Buffer.from("%PDF-1.7\n".padEnd(50_000, "x"));
    const source = await scripted(room, {
      tools: {},
      before: `
        if (message.method === "initialize") { answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo: { name: "s", version: "1" } })); return true; }
        if (message.method !== "resources/read") return false;
        const uri = message.params.uri;
        answer(message.id, JSON.stringify({ contents: [{ uri: uri + "/a", mimeType: "text/plain", text: "one\\n" }, { uri: uri + "/b", mimeType: "application/pdf", blob: Buffer.from("%PDF-1.7\\n".padEnd(50000, "x")).toString("base64") }] }));
        return true;`,
    });
    const config = await configOf(room, source);
    const { code, stdout, stderr } = await sluiceHere(read("scripted", "x://y", "--store", room.store, ...config));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^==> x:\/\/y\/a <==\none\n==> x:\/\/y\/b <==\nPDF.*\n$/),
    ]);
    expect((await listed(room.store)).map((ref) => ref.sha256)).toContain(sha256(pdf));
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  test("what is not there exits 1", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(read("every", "demo://nope", "--store", "memory", ...config));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^sluice: /);
  });
});
