/** Completion in the shells themselves: what is offered at the end of a line that is being typed. */
import { execFile } from "node:child_process";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { Room, sluice } from "./command.js";

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
    stderr: 'sluice: completion has no "tcsh"; there are bash, zsh, fish\nTry: sluice completion --help\n',
  });
});
