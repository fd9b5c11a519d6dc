/**
 * `sluice install` and `sluice uninstall`: put Sluice in front of the servers in hosts' configurations, and take it away.
 *
 * The operands and options are in `../commands/install.ts`.
 * @module
 */
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { countNoun } from "../../core/amounts.js";
import { nearest } from "../../errors/arguments.js";
import type { Invocation } from "../command.js";
import { CommandError, Exit, toExitCode, UsageError } from "../exit.js";
import { report } from "../terminal/report.js";
import { alignTable } from "../terminal/table.js";
import { onOneLine, printable, type Terminal } from "../terminal/terminal.js";
import { listBackups, findPlaces, readConfigFile, replaceConfig, type ConfigFile } from "./config-file.js";
import { HOSTS, thisMachine, type Host, type Machine } from "./hosts.js";
import { showDiff, installPlan, uninstallPlan, type Plan } from "./plan.js";
import { findProgram } from "./program.js";
import { summarizeEntry, type Server } from "./servers.js";

/** What a test replaces. */
export interface InstallDeps {
  readonly machine?: Machine;
  /** The words of the command, up to `proxy`. */
  readonly program?: readonly string[];
}

/** Puts Sluice in front of servers. */
export async function install(invocation: Invocation, terminal: Terminal, deps: InstallDeps = {}): Promise<number> {
  const program = deps.program ?? (await findProgram(terminal.env));
  return new Changes(invocation, terminal, deps.machine ?? thisMachine(terminal.env), {
    plan: (file, wanted) => installPlan(file, program, wanted),
    question: (count) => `Put Sluice in front of ${count}?`,
    done: (count) => `Sluice is in front of ${count}`,
    keepsBackup: true,
    nothing: "there is nothing to put Sluice in front of",
  }).run();
}

/** Takes Sluice away from servers. */
export async function uninstall(invocation: Invocation, terminal: Terminal, deps: InstallDeps = {}): Promise<number> {
  return new Changes(invocation, terminal, deps.machine ?? thisMachine(terminal.env), {
    plan: (file, wanted) => uninstallPlan(file, wanted),
    question: (count) => `Take Sluice away from ${count}?`,
    done: (count) => `Sluice is no longer in front of ${count}`,
    keepsBackup: false,
    nothing: "Sluice is not in front of any server",
  }).run();
}

/** How the two commands differ. */
interface Direction {
  plan(file: ConfigFile, wanted: readonly string[]): Promise<Plan>;
  question(count: string): string;
  done(count: string): string;
  readonly keepsBackup: boolean;
  readonly nothing: string;
}

/** The configurations of the hosts that are named, or of all: what was read, and the errors of the others. */
export interface FoundConfigs {
  readonly files: readonly ConfigFile[];
  readonly failures: readonly unknown[];
}

/** Reads configurations. Throws CommandError 66 if a host that is named has none. */
export async function findConfigs(named: readonly string[], machine: Machine): Promise<FoundConfigs> {
  const hosts = HOSTS.filter(({ id }) => named.length === 0 || named.includes(id));
  const files: ConfigFile[] = [];
  const failures: unknown[] = [];
  for (const host of hosts) {
    const places = await findPlaces(host, machine);
    if (places.length === 0 && named.length > 0) failures.push(missing(host, machine));
    for (const place of places) {
      try {
        files.push(await readConfigFile(host, place));
      } catch (error) {
        failures.push(error);
      }
    }
  }
  return { files, failures };
}

function missing(host: Host, machine: Machine): CommandError {
  const places = host.files(machine).map(printable);
  const sentence =
    places.length === 0
      ? `there is no ${host.title} for this system`
      : `there is no configuration of ${host.title} in ${places.join(" or ")}: add a server in ${host.title}, then run this again`;
  return new CommandError(Exit.input, sentence);
}

/** Said where no configuration was found. */
export const NO_HOST =
  "this machine has no configuration of a host that Sluice knows; `sluice install --help` lists the hosts";

/** One run of either command. */
class Changes {
  readonly #invocation: Invocation;
  readonly #terminal: Terminal;
  readonly #machine: Machine;
  readonly #direction: Direction;
  readonly #failures: unknown[] = [];

  constructor(invocation: Invocation, terminal: Terminal, machine: Machine, direction: Direction) {
    this.#invocation = invocation;
    this.#terminal = terminal;
    this.#machine = machine;
    this.#direction = direction;
  }

  /** Returns the exit code: that of the first configuration that failed. Others are changed all the same. */
  async run(): Promise<number> {
    const { operands } = this.#invocation;
    const { files, failures } = await findConfigs(operands, this.#machine);
    for (const failure of failures) await this.#fail(failure);
    const plans = await this.#plans(files);
    this.#checkNames(plans);
    if (files.length === 0 && failures.length === 0) await this.#say(NO_HOST);
    const changed = plans.filter(({ changes }) => changes.length > 0);
    if (changed.length > 0 && !this.#isDry) this.#checkAnswer();
    for (const plan of plans) await this.#show(plan);
    if (plans.length > 0 && changed.length === 0) await this.#say(this.#direction.nothing);
    if (!this.#isDry) for (const plan of changed) await this.#apply(plan);
    const [first] = this.#failures;
    return first === undefined ? Exit.ok : toExitCode(first, true);
  }

  get #isDry(): boolean {
    return this.#invocation.has("dry-run");
  }

  async #plans(files: readonly ConfigFile[]): Promise<readonly Plan[]> {
    const plans: Plan[] = [];
    for (const file of files) {
      try {
        plans.push(await this.#direction.plan(file, this.#invocation.values("server")));
      } catch (error) {
        await this.#fail(error);
      }
    }
    return plans;
  }

  /** Throws UsageError for a name that no configuration has. */
  #checkNames(plans: readonly Plan[]): void {
    const names = new Set(plans.flatMap(({ servers }) => servers.map(({ name }) => name)));
    const wrong = this.#invocation.values("server").find((name) => !names.has(name));
    if (wrong === undefined || this.#failures.length > 0) return;
    const meant = nearest(wrong, names);
    const hint = meant === undefined ? `the servers are ${[...names].join(", ") || "none"}` : `did you mean ${meant}?`;
    throw new UsageError(
      `no configuration has a server ${JSON.stringify(wrong)}; ${printable(hint)}`,
      this.#invocation.command,
    );
  }

  /** Throws UsageError without a terminal to ask at. */
  #checkAnswer(): void {
    if (this.#invocation.has("yes") || this.#terminal.input.isTTY === true) return;
    throw new UsageError(
      `${this.#invocation.command} changes configurations and cannot ask you here; add --yes to confirm, or --dry-run to see the change`,
      this.#invocation.command,
    );
  }

  async #show(plan: Plan): Promise<void> {
    const { output } = this.#terminal;
    const { file, servers, changes } = plan;
    await output.write(`${output.bold(file.host.title)}  ${printable(file.place)}\n`);
    const rows = servers.map((server) =>
      [toLabel(server), summarizeEntry(server), this.#fate(server, plan)].map(onOneLine),
    );
    if (rows.length === 0) rows.push(["no servers", "", ""]);
    await output.write(indentRows(rows));
    if (changes.length > 0)
      await output.write(
        showDiff(plan)
          .map(
            (line) => `    ${printable(line)}
`,
          )
          .join(""),
      );
  }

  #fate(server: Server, { changes }: Plan): string {
    if (changes.some((each) => each.server === server)) return this.#direction.keepsBackup ? "install" : "uninstall";
    return standingText(server);
  }

  async #apply(plan: Plan): Promise<void> {
    const { output } = this.#terminal;
    const { file, changes, content, usedBackups } = plan;
    const count = `${countNoun(changes.length, "server")} of ${file.host.title}`;
    try {
      if (!(await this.#agree(this.#direction.question(count)))) return;
      const backup = await replaceConfig(file, content, this.#direction.keepsBackup);
      for (const used of usedBackups) await rm(used, { force: true });
      await output.write(`${this.#direction.done(count)}: restart ${file.host.title}\n`);
      if (backup !== undefined) await output.write(`  what it was before: ${printable(backup)}\n`);
      if (usedBackups.length > 0) await output.write("  the configuration is what it was before, byte for byte\n");
      else if (!this.#direction.keepsBackup) await this.#nameBackups(file);
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** A file that changed since keeps its backups: what they hold may be wanted, and may be secret. */
  async #nameBackups({ target }: ConfigFile): Promise<void> {
    for (const backup of await listBackups(target)) {
      await this.#terminal.output.write(`  kept, since the configuration has changed: ${printable(backup)}\n`);
    }
  }

  async #agree(question: string): Promise<boolean> {
    if (this.#invocation.has("yes")) return true;
    const { input, errors, signal } = this.#terminal;
    await errors.write(`${question} [y/N] `);
    const lines = createInterface({ input });
    try {
      // Input that ends is no answer.
      const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
      const answer = await Promise.race([lines.question("", { signal }), ended]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      lines.close();
    }
  }

  async #fail(error: unknown): Promise<void> {
    this.#terminal.signal.throwIfAborted();
    this.#failures.push(error);
    await report(error, this.#terminal.errors, undefined);
  }

  async #say(sentence: string): Promise<void> {
    await this.#terminal.errors.write(`sluice: ${sentence}\n`);
  }
}

/** Rows in columns without headings, below the name of a host. */
export function indentRows(rows: readonly (readonly string[])[]): string {
  const columns = (rows[0] ?? []).map(() => ({ title: "" }));
  const [, ...lines] = alignTable(columns, rows);
  return lines.map((line) => `  ${line}\n`).join("");
}

/** The name of a server, with the project that it is for. */
export function toLabel({ name, project }: Server): string {
  return project === undefined ? name : `${name} (${project})`;
}

/** What a server is to Sluice, in words. */
export function standingText({ standing }: Server): string {
  if (standing.kind === "behind") return "behind Sluice";
  return standing.kind === "skipped" ? `skipped: ${standing.reason}` : "not behind Sluice";
}
