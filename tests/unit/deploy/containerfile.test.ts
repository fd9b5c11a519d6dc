/** The Containerfile as `npm run smoke` reads it: what it promises, and what the reader refuses. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ContainerfileError, readContainerfile, type Stage } from "../../../scripts/smoke/containerfile.mjs";
import { kept } from "../../../scripts/smoke/image.mjs";
import { ROOT } from "../cli/command.js";

const text = (name: string): Promise<string> => readFile(join(ROOT, "deploy", name), "utf8");

interface Manifest {
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe("deploy/Containerfile", () => {
  let stages: readonly Stage[];
  let last: Stage;
  let manifest: Manifest;
  beforeAll(async () => {
    stages = readContainerfile(await text("Containerfile"));
    last = stages.at(-1) as Stage;
    manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
  });

  test("starts from one official image of Node, of an exact version that the package is for", () => {
    const bases = new Set(stages.map(({ base }) => base));
    expect(bases.size).toBe(1);
    const [, major = "", minor = ""] =
      /^docker\.io\/library\/node:(\d+)\.(\d+)\.\d+-\w+-slim$/.exec([...bases][0] ?? "") ?? [];
    const [, least = "", leastMinor = ""] = /^>=(\d+)\.(\d+)/.exec(manifest.engines.node) ?? [];
    expect(Number(major) * 1000 + Number(minor)).toBeGreaterThanOrEqual(Number(least) * 1000 + Number(leastMinor));
  });

  test("runs as a user who is not root, told by number", () => {
    expect(last.config.user).toMatch(/^[1-9]\d+:[1-9]\d+$/);
  });

  test("starts the process itself, so that the signal that ends it arrives", () => {
    expect(last.config.entrypoint?.[0]).toBe("node");
    expect(last.config.stopSignal).toBe("SIGTERM");
  });

  test("asks the process for its health by Node, at the port where it listens", () => {
    const { health, command, ports } = last.config;
    expect(health?.command[0]).toBe("node");
    expect(ports).toEqual([4751]);
    expect(command?.join(" ")).toContain("--listen 0.0.0.0:4751");
    expect(health?.command.join(" ")).toContain("http://127.0.0.1:4751/health");
  });

  test("has what a bucket and Redis need, in the versions that are tested", () => {
    const stores = stages[0]?.steps.find((step) => step.kind === "arg" && step.name === "STORES");
    const tested = ["@aws-sdk/client-s3", "@redis/client"].map((name) => `${name}@${manifest.devDependencies[name]}`);
    expect(stores).toMatchObject({ value: tested.join(" ") });
  });

  test("is given the packed files, and nothing else of the folder", async () => {
    const isKept = kept(await text("Containerfile.dockerignore"));
    const names = ["mcp-sluice-0.1.0.tgz", "mcp-sluice-0.1.0.cdx.json", "SHA256SUMS", ".env", "node_modules"];
    expect(names.filter((name) => isKept(name))).toEqual(["mcp-sluice-0.1.0.tgz"]);
  });
});

describe("the reader", () => {
  const after = (line: string): (() => unknown) => {
    return () => readContainerfile(`FROM node:24.0.0-trixie-slim\n${line}\n`);
  };

  test("takes stages, comments and lines that go on", () => {
    const [first, second] = readContainerfile(
      'FROM node:24.0.0-trixie-slim AS one\n# why\nRUN a && \\\n  b\n\nFROM one\nCOPY --from=one /x /y\nENV A="b"\n',
    );
    expect(first).toMatchObject({ name: "one", steps: [{ kind: "run", command: "a && b" }] });
    expect(second).toMatchObject({
      base: "one",
      steps: [
        { kind: "copy", from: "one", source: "/x", target: "/y" },
        { kind: "env", name: "A", value: "b" },
      ],
    });
  });

  test.each([
    ["an instruction that it does not know", "ADD x /y", "line 2: ADD is not known here"],
    ["a shell around the process", "CMD sluice serve", 'line 2: CMD is a list of words, ["LIKE", "THIS"]'],
    ["options of RUN, which would change what it does", "RUN --mount=type=cache,target=/x y", "line 2: RUN is a line"],
    ["owners of copies", "COPY --chown=1:1 . /x", "line 2: COPY is SOURCE /TARGET"],
    ["a user by name", "USER node", "line 2: USER is UID:GID"],
    ["variables where they are not replaced", "WORKDIR ${HOME}", "line 2: WORKDIR has a variable"],
    ["a health check without limits", 'HEALTHCHECK CMD ["x"]', "line 2: HEALTHCHECK wants --start-period"],
    ["what is no instruction", "&&", "line 2: this is no instruction"],
  ])("refuses %s", (_, line, message) => {
    expect(after(line)).toThrow(ContainerfileError);
    expect(after(line)).toThrow(message);
  });

  test("refuses a file that begins with something else", () => {
    expect(() => readContainerfile("RUN x\n")).toThrow("line 1: RUN stands before the first FROM");
    expect(() => readContainerfile("# nothing\n")).toThrow("there is no FROM");
  });
});
