import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../web/src/cli/commands.js";
import { EXIT_MEANINGS } from "../../../web/src/cli/exit.js";
import { sluice } from "./command.js";
import { sluiceHere } from "./in-process.js";

const WRONG: readonly (readonly [args: string[], sentence: RegExp])[] = [
  [["transfrom"], /did you mean transform\?/],
  [["frobnicate"], /there are transform, restore, proxy, serve, run, tools, resources, artifacts, files, sniff/],
  [["--store", "x", "transform"], /options come after the command/],
  [["help", "transfrom"], /did you mean transform\?/],
  [["artifacts"], /needs a verb: list, get, stat, delete, gc, purge/],
  [["artifacts", "lst"], /did you mean list\?/],
  [["artifacts", "get"], /needs ID/],
  [["artifacts", "get", "a", "b"], /"b" is too many/],
  [["artifacts", "list", "x"], /takes no operand/],
  [["artifacts", "list", "--range", "0-1"], /no option --range; artifacts get has it/],
  [["files", "list"], /say whose files with --user NAME/],
  [["files", "put", "--user", "ada"], /give it one with --as NAME/],
  [["files", "put", "a", "b", "--user", "ada", "--as", "c"], /--as names one file/],
  [["artifacts", "list", "--store", "memory"], /give --store DIR/],
  [["artifacts", "list", "--since", "yesterday"], /--since takes a time such as 30m, 12h, 7d or 2026-01-31/],
  [["artifacts", "list", "--since", "2026-13-01"], /not "2026-13-01"/],
  [["completion", "zhs"], /did you mean zsh\?/],
  [["artifacts", "get", "a", "--range", "5-1"], /write 1-5/],
  [["artifacts", "get", "a", "--range", "x"], /0-99 is the first hundred/],
  [["artifacts", "get", "a", "--range", "-"], /0-99 is the first hundred/],
  [["artifacts", "get", "a", "--json"], /needs -o FILE/],
  [["transform", "--dialec", "mcp"], /did you mean --dialect\?/],
  [["transform", "--dialect", "xml"], /observation or mcp, not "xml"/],
  [["transform", "--store"], /--store needs a value/],
  [["transform", "--store="], /--store needs a value/],
  [["transform", "--store", "--pretty"], /written --store=--pretty/],
  [["transform", "--pretty=yes"], /--pretty takes no value/],
  [["transform", "--tool", "a", "--tool", "b"], /--tool is given twice/],
  [["transform", "--ndjson", "--pretty"], /give one of them/],
  [["transform", "--namespace", "a/b"], /--namespace takes/],
  [["transform", "--scope", "session"], /KEY=VALUE/],
  [["transform", "--scope", "session="], /KEY=VALUE/],
  [["transform", "--scope", "sesion=1"], /did you mean session/],
  [["transform", "--scope", "colour=red"], /the keys are tenant_id/],
  [["transform", "--scope", "user=1", "--scope", "user_id=2"], /user_id is given twice/],
  [["transform", "a", "b"], /"b" is too many/],
  [["transform", "-x"], /no option -x/],
  [["run", "--", "true"], /say whose server it is with --user NAME/],
  [["run", "--user", "ada"], /run needs a command: sluice run --user NAME -- COMMAND/],
  [["tools"], /needs a verb: list, connect, disconnect, call/],
  [["tools", "cal"], /did you mean call\?/],
  [["tools", "connect"], /needs SOURCE/],
  [["tools", "call", "a.b"], /there is no source "a"/],
  [["tools", "call", "sqlite.b", "--scope", "sesion=1"], /did you mean session/],
  [["resources"], /needs a verb: list, templates, read/],
  [["resources", "read", "filesystem"], /needs SOURCE URI/],
  [["resources", "read", "a", "b", "c"], /takes SOURCE URI; "c" is too many/],
  [["resources", "list", "filesystem", "--store", "x"], /no option --store; transform has it/],
  [["restore", "--store", "memory"], /memory store is gone/],
];

describe("a command line that cannot be meant", () => {
  test.each(WRONG)("%j exits 2 with the sentence that helps", async (args, sentence) => {
    const { code, stdout, stderr } = await sluiceHere(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/^sluice: .*\nTry: sluice .*--help\n$/);
  });
});

describe("--help", () => {
  test("is what the bare program shows", async () => {
    expect(await sluice([])).toEqual(await sluice(["--help"]));
  });

  test("of the program names every command and every exit code", async () => {
    const { code, stdout, stderr } = await sluiceHere(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name, summary } of COMMANDS) {
      expect(stdout).toContain(name);
      expect(stdout).toContain(summary);
    }
    for (const [number] of EXIT_MEANINGS) expect(stdout).toMatch(new RegExp(`^ +${number}  `, "m"));
    expect((await sluiceHere(["help"])).stdout).toBe(stdout);
    expect((await sluiceHere(["-h"])).stdout).toBe(stdout);
  });

  test.each(COMMANDS.map((spec) => [spec.name, spec] as const))(
    "of %s names its options and examples",
    async (name, spec) => {
      const { code, stdout } = await sluiceHere([...name.split(" "), "--help"]);
      expect(code).toBe(0);
      for (const option of spec.options) expect(stdout).toContain(`--${option.name}`);
      for (const [line] of spec.examples) expect(stdout).toContain(line);
      expect(
        Math.max(
          ...stdout
            .split("\n")
            .filter((line) => !line.includes("$"))
            .map((line) => line.length),
        ),
      ).toBeLessThanOrEqual(80);
      expect((await sluiceHere(["help", ...name.split(" ")])).stdout).toBe(stdout);
    },
  );

  test.each([
    ["artifacts", ["list", "get", "stat", "delete", "gc", "purge"]],
    ["files", ["list", "put", "get", "rm", "rename"]],
    ["tools", ["list", "connect", "call"]],
    ["resources", ["list", "templates", "read"]],
  ])("of %s names its verbs", async (group, verbs) => {
    const { code, stdout } = await sluiceHere([group, "--help"]);
    expect(code).toBe(0);
    for (const verb of verbs) expect(stdout).toContain(`${group} ${verb}`);
  });

  test("every example is a command line that parses", async () => {
    const { parse } = await import("../../../web/src/cli/parse.js");
    for (const [line] of COMMANDS.flatMap(({ examples }) => examples)) {
      const words = line
        .slice(line.indexOf("sluice ") + 7)
        .replace(/ [|<>].*$/, "")
        .split(" ");
      expect(parse(words).kind).toBe("run");
    }
  });
});

test("--version is the package's", async () => {
  const { default: manifest } = await import("../../../package.json", { with: { type: "json" } });
  expect(await sluice(["--version"])).toEqual({ code: 0, stdout: `sluice ${manifest.version}\n`, stderr: "" });
  expect((await sluice(["-V"])).stdout).toBe(`sluice ${manifest.version}\n`);
});
