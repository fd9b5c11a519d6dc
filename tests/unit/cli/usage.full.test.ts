import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { COMMANDS } from "../../../web/src/cli/commands/commands.js";
import { EXIT_MEANINGS } from "../../../web/src/cli/exit.js";
import { Room, ROOT, sluice } from "./command.js";
import { sluiceHere } from "./in-process.js";

const WRONG: readonly (readonly [args: string[], sentence: RegExp])[] = [
  [["transfrom"], /did you mean transform\?/],
  [
    ["frobnicate"],
    /use one of transform, restore, proxy, install, uninstall, doctor, serve, run, tools, resources, artifacts, store, files, sniff/,
  ],
  [["--store", "x", "transform"], /options come after the command/],
  [["help", "transfrom"], /did you mean transform\?/],
  [["artifacts"], /needs a command: list, get, stat, delete, gc, purge/],
  [["artifacts", "lst"], /did you mean list\?/],
  [["artifacts", "get"], /needs an ID/],
  [["artifacts", "delete"], /needs one or more IDs/],
  [["artifacts", "get", "a", "b"], /leave out "b"/],
  [["artifacts", "list", "x"], /takes no arguments/],
  [["artifacts", "list", "--range", "0-1"], /no option --range; artifacts get has it/],
  [["files", "list"], /name the user whose files you mean: --user NAME/],
  [["files", "put", "--user", "ada"], /name the file with --as NAME/],
  [["files", "put", "a", "b", "--user", "ada", "--as", "c"], /--as names one file/],
  [["artifacts", "list", "--store", "memory"], /use --store DIR/],
  [["artifacts", "list", "--since", "yesterday"], /--since takes a time such as 30m, 12h, 7d or 2026-01-31/],
  [["artifacts", "list", "--since", "2026-13-01"], /got "2026-13-01"/],
  [["completion", "zhs"], /did you mean zsh\?/],
  [["artifacts", "get", "a", "--range", "5-1"], /write 1-5/],
  [["artifacts", "get", "a", "--range", "x"], /0-99 for the first hundred/],
  [["artifacts", "get", "a", "--range", "-"], /0-99 for the first hundred/],
  [["artifacts", "get", "a", "--json"], /needs -o FILE/],
  [["transform", "--dialec", "mcp"], /did you mean --dialect\?/],
  [["transform", "--dialect", "xml"], /observation or mcp; got "xml"/],
  [["transform", "--store"], /--store needs a value/],
  [["transform", "--store="], /--store needs a value/],
  [["transform", "--store", "--pretty"], /begins with a dash as --store=--pretty/],
  [["transform", "--pretty=yes"], /--pretty takes no value/],
  [["transform", "--tool", "a", "--tool", "b"], /--tool is given twice/],
  [["transform", "--ndjson", "--pretty"], /use only one of them/],
  [["transform", "--namespace", "a/b"], /--namespace may only contain .*; got "a\/b"/],
  [["transform", "--scope", "session"], /KEY=VALUE/],
  [["transform", "--scope", "session="], /KEY=VALUE/],
  [["transform", "--scope", "sesion=1"], /did you mean session/],
  [["transform", "--scope", "colour=red"], /the keys are tenant_id/],
  [["transform", "--scope", "user=1", "--scope", "user_id=2"], /user_id is given twice/],
  [["transform", "a", "b"], /leave out "b"/],
  [["transform", "-x"], /no option -x/],
  [["run", "--", "true"], /run needs a user and a command: sluice run --user NAME -- COMMAND/],
  [["run", "--user", "ada"], /run needs a user and a command: sluice run --user NAME -- COMMAND/],
  [["serve", "--port", "80"], /no option --port; use --listen HOST:PORT/],
  [["proxy", "--url", "http://127.0.0.1:9/", "--", "node"], /a command or --url, not both/],
  [["proxy", "--url", "secret"], /--url must begin with http/],
  [["install", "cursr"], /did you mean cursor\?/],
  [["install", "emacs"], /use one of claude-desktop, claude-code, .*, librechat/],
  [["uninstall", "--server"], /--server needs a value: --server NAME/],
  [["doctor", "--yes"], /no option --yes/],
  [["tools"], /needs a command: list, connect, disconnect, call/],
  [["tools", "cal"], /did you mean call\?/],
  [["tools", "connect"], /needs a SOURCE/],
  [["tools", "call", "a.b", "{}"], /takes one SOURCE.TOOL; give the tool's arguments with --args/],
  [["tools", "call", "a.b"], /there is no source "a"/],
  [["tools", "call", "sqlite.b", "--scope", "sesion=1"], /did you mean session/],
  [["resources"], /needs a command: list, templates, read/],
  [["resources", "read", "filesystem"], /needs a SOURCE and a URI/],
  [["resources", "read", "a", "b", "c"], /takes a SOURCE and a URI; leave out "c"/],
  [["resources", "list", "filesystem", "--store", "x"], /no option --store; resources read has it/],
  [["restore", "--store", "memory"], /memory store is lost/],
];

describe("a command line that cannot be meant", () => {
  test.each(WRONG)("%j exits 2 with the sentence that helps", async (args, sentence) => {
    const { code, stdout, stderr } = await sluiceHere(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/^sluice: .*\nTry: sluice .*--help\n$/);
  });
});

test("an address and headers of the environment are checked, and not shown", async () => {
  const url = { SLUICE_PROXY_URL: "http://127.0.0.1:9/mcp" };
  for (const [env, sentence] of [
    [{ SLUICE_PROXY_URL: "secret" }, "SLUICE_PROXY_URL must begin with http:// or https://"],
    [{ ...url, SLUICE_PROXY_URL_FILE: "/secret" }, "set SLUICE_PROXY_URL or SLUICE_PROXY_URL_FILE, not both"],
    [{ ...url, SLUICE_PROXY_HEADERS: "secret" }, "each line of SLUICE_PROXY_HEADERS needs a name and a value"],
    [{ SLUICE_PROXY_HEADERS: "A: secret" }, "proxy needs a server"],
  ] as const) {
    const { code, stderr } = await sluiceHere(["proxy"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain("secret");
  }
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

/** Completion in the shells themselves: what is offered at the end of a line that is being typed. */
const run = promisify(execFile);

/** For each shell, what prints the words that it offers for a line. `$1` is the script, `$2` the line. */
const OFFERED: Readonly<Record<string, string>> = {
  bash: `
    source "$1"; read -ra COMP_WORDS <<< "$2"; [[ $2 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _sluice 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // A terminal of its own, in which Tab is pressed twice: the list is shown at once, without asking and without colours.
  zsh: `
    zmodload zsh/zpty; zpty shell zsh -f -i
    say() { zpty -w shell "$1"; }
    say "PS1='ready>'; LISTMAX=10000; autoload -U compinit; compinit -u -D; source $1; bindkey '^I' list-choices; stty cols 200 rows 500"
    say 'echo be''gin'; zpty -r shell seen '*begin*'
    zpty -w -n shell "$2"$'\\t'; sleep 1; zpty -w -n shell $'\\x15'; say 'echo fin''ish'
    zpty -r shell seen '*finish*'; print -r -- "$seen"`,
  fish: `source $argv[1]; complete -C $argv[2]`,
};

describe.each(Object.keys(OFFERED))("in %s", (shell) => {
  const isThere = findOnPath(shell) !== undefined;
  let room: Room;
  let script: string;
  beforeAll(async () => {
    room = await Room.open();
    const { stdout } = await sluice(["completion", shell]);
    script = await room.write("completion", stdout);
  });
  afterAll(async () => room[Symbol.asyncDispose]());

  const offered = async (line: string): Promise<readonly string[]> => {
    const args = shell === "fish" ? ["-c", OFFERED["fish"] ?? ""] : ["-c", OFFERED[shell] ?? "", shell];
    const { stdout } = await run(shell, [...args, script, line], { cwd: room.folder });
    return stripVTControlCharacters(stdout).split(/[\s,]+/);
  };

  test.runIf(isThere).each([
    ["sluice art", ["artifacts"], ["transform"]],
    ["sluice artifacts ", ["list", "get", "purge"], ["sniff"]],
    ["sluice artifacts list --", ["--store", "--since", "--help"], ["--range"]],
    ["sluice transform --dialect ", ["observation", "mcp"], ["--store"]],
    ["sluice completion ", ["bash", "zsh", "fish"], ["list"]],
    ["sluice install cursor c", ["claude-code", "cursor", "codex"], ["zed"]],
    ["sluice sniff comp", ["completion"], ["list"]],
  ])("%s is completed", async (line, wanted, others) => {
    const words = await offered(line);
    expect(words).toEqual(expect.arrayContaining(wanted));
    for (const other of others) expect(words).not.toContain(other);
  });
});

test("another shell is refused, with those that there are", async () => {
  const { code, stderr } = await sluice(["completion", "tcsh"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'sluice: completion does not support "tcsh"; use one of bash, zsh, fish\nTry: sluice completion --help\n',
  });
});

test("the demo calls every server, shows no base64, and proves that nothing was lost", async () => {
  const from = performance.now();
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["scripts/demo/main.mjs", "--no-serve"], {
    cwd: ROOT,
  });
  expect(performance.now() - from).toBeLessThan(30_000);
  expect(stderr).toBe("");
  for (const heading of [
    "tableau · download_workbook",
    "everything · get-tiny-image",
    "filesystem · read_media_file",
  ]) {
    expect(stdout).toContain(heading);
  }
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toMatch(/[A-Za-z0-9+/]{200}/);
  expect(stdout).toMatch(/npx --no-install sluice artifacts get tableau_[0-9a-f]{12} --store build\/demo\/store -o /);
  expect(stdout).toContain("the same SHA-256");
  expect(stdout).toContain(join("build", "demo", "files", "workbook.pdf"));
});
