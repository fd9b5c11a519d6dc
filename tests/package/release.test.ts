/** What `npm run pack` makes of the packages: bills of materials, and checksums. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pack } from "../../scripts/pack.mjs";
import { readLicences } from "../../scripts/packages-in.mjs";
import { ROOT } from "./run.js";

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly evidence: { readonly occurrences: readonly { readonly location: string }[] };
}

interface Bill {
  readonly serialNumber: string;
  readonly metadata: {
    readonly timestamp: string;
    readonly component: { readonly purl: string; readonly hashes: readonly { readonly content: string }[] };
  };
  readonly components: readonly Component[];
}

let folders: readonly [string, string];
let version: string;

beforeAll(async () => {
  const made = (): Promise<string> => mkdtemp(join(tmpdir(), "sluice-release-"));
  folders = [await made(), await made()];
  for (const folder of folders) await pack(folder);
  ({ version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string });
}, 300_000);

afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const read = (name: string, folder = folders[0]): Promise<Buffer> => readFile(join(folder, name));
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

test("two packs are the same, byte for byte", async () => {
  const names = await readdir(folders[0]);
  expect(names.sort()).toEqual(
    [
      "SHA256SUMS",
      ...["mcp-sluice", "mcp-sluice-playground"].flatMap((name) => [
        `${name}-${version}.cdx.json`,
        `${name}-${version}.tgz`,
      ]),
    ].sort(),
  );
  for (const name of names)
    expect([name, sha256(await read(name))]).toEqual([name, sha256(await read(name, folders[1]))]);
});

test("SHA256SUMS has the sum of every other file, as sha256sum reads it", async () => {
  const names = (await readdir(folders[0])).filter((name) => name !== "SHA256SUMS").sort();
  const lines = await Promise.all(names.map(async (name) => `${sha256(await read(name))}  ${name}\n`));
  expect((await read("SHA256SUMS")).toString()).toBe(lines.join(""));
});

describe.each([
  ["mcp-sluice", ["dist/core", "dist/bundled", "dist/ui", "dist/mcp/artifact-app"], ""],
  ["mcp-sluice-playground", ["site/licenses"], "build/playground"],
])("the bill of materials of %s", (name, places, from) => {
  let text: string;
  let bill: Bill;
  beforeAll(async () => {
    text = (await read(`${name}-${version}.cdx.json`)).toString();
    bill = JSON.parse(text) as Bill;
  });

  test("is what CycloneDX 1.6 says that it has to be", async () => {
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  });

  test("is about the very tarball", async () => {
    const { purl, hashes } = bill.metadata.component;
    expect(purl).toBe(`pkg:npm/${name}@${version}`);
    expect(hashes[0]?.content).toBe(sha256(await read(`${name}-${version}.tgz`)));
  });

  test("has all that the licences in the package are of, with the versions, and nothing else", async () => {
    const listed = new Set<string>();
    for (const place of places) {
      const licences = readLicences(await readFile(join(ROOT, from, place, "LICENSES.md"), "utf8")) as {
        name: string;
        version: string;
      }[];
      expect(licences.length).toBeGreaterThan(0);
      for (const each of licences) listed.add(`${each.name}@${each.version}`);
    }
    const told = bill.components.map(
      ({ group, name: own, version: of }) => `${group === undefined ? "" : `${group}/`}${own}@${of}`,
    );
    expect(told.sort()).toEqual([...listed].sort());
    for (const { licenses, evidence } of bill.components) {
      expect(licenses).toHaveLength(1);
      expect(evidence.occurrences.length).toBeGreaterThan(0);
    }
  });

  test("has the libraries of the core, which no registry of packages knows", () => {
    const purls = bill.components.map(({ purl }) => purl.replace(/@[^@]*$/, ""));
    expect(purls).toEqual(
      expect.arrayContaining([
        "pkg:github/nlohmann/json",
        "pkg:github/emscripten-core/emscripten",
        "pkg:generic/musl",
        "pkg:github/llvm/llvm-project",
      ]),
    );
  });
});
