/**
 * What `--schemas keep` would break: of the servers here that say what their results are, memory alone. Its long lists
 * and objects are replaced by a reference, which is a string, where its schema wants a list. Everywhere else what is
 * replaced is a string already.
 */
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS } from "./behind.js";
import { useFolder } from "./folder.js";
import { everything, filesystem, memory, pdfViewer, type Server } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

interface Case {
  readonly name: string;
  readonly server: () => Server;
  readonly calls: () => readonly (readonly [tool: string, args: object])[];
}

const OBSERVATIONS = Array.from({ length: 3_000 }, (_, number) => `observation ${number} of a long day`);

const CASES: readonly Case[] = [
  {
    name: "everything",
    server: () => everything(folder.path()),
    calls: () => [["get-structured-content", { location: "Chicago" }]],
  },
  {
    name: "filesystem",
    server: () => filesystem(folder.path()),
    calls: () => [
      ["read_media_file", { path: folder.path("photo.png") }],
      ["read_media_file", { path: folder.path("report.pdf") }],
      ["read_text_file", { path: folder.path("report.pdf") }],
      ["read_multiple_files", { paths: [folder.path("report.pdf"), folder.path("photo.png")] }],
      ["directory_tree", { path: folder.path() }],
    ],
  },
  {
    name: "memory",
    server: () => memory(folder.path()),
    calls: () => [
      ["create_entities", { entities: [{ name: "long", entityType: "day", observations: OBSERVATIONS }] }],
      ["read_graph", {}],
    ],
  },
  {
    name: "pdf",
    server: () => pdfViewer(folder.path(), folder.path("report.pdf")),
    calls: () => [["read_pdf_bytes", { url: folder.path("report.pdf") }]],
  },
];

/** The servers of which some result is refused by the client, and as what. */
async function broken(driver: (typeof DRIVERS)[number], mode: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const { name, server: start, calls } of CASES) {
    await using server = await behindProxy(driver, start(), ["--schemas", mode]);
    for (const [tool, args] of calls()) {
      await server.call(tool, args).catch((error: unknown) => (found[name] = String(error)));
    }
  }
  return found;
}

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
  test("with `widen` all results fit", async () => {
    expect(await broken(driver, "widen")).toEqual({});
  });

  test("with `keep` those of one server do not", async () => {
    expect(await broken(driver, "keep")).toEqual({ memory: expect.stringMatching(/must be array/) as string });
  });
});
