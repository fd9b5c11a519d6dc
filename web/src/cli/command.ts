/**
 * What a command is, and one that was given on a command line.
 * @module
 */
import { shellWord, type Terminal } from "./terminal/terminal.js";

/** One option; a switch without `value`. */
export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** The name of the value in help, e.g. `DIR`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly multiple?: boolean;
  /** What other programs call this option. They are not accepted, but the error points here. */
  readonly otherNames?: readonly string[];
  readonly help: string;
}

/** A parsed command line. */
export interface Invocation {
  readonly command: string;
  readonly operands: readonly string[];
  /** The value of an option; undefined if it was not given. */
  value(name: string): string | undefined;
  /** All values of a repeatable option. */
  values(name: string): readonly string[];
  /** Whether a switch was given. */
  has(name: string): boolean;
}

/** `sluice NAME` with those of its options that a command line gave, to be typed as it is. */
export function commandLine(name: string, invocation: Invocation, options: readonly string[]): string {
  const given = options.flatMap((option) =>
    invocation.values(option).map((value) => `--${option} ${shellWord(value)}`),
  );
  return ["sluice", name, ...given].join(" ");
}

/** Runs a command and returns the exit code. Throws SluiceError, CommandError, PipeClosed. */
type CommandRun = (invocation: Invocation, terminal: Terminal) => Promise<number>;

/** A command. Its module is loaded only when it runs, so that the program starts quickly. */
export interface CommandSpec {
  /** `transform`, `artifacts get`. */
  readonly name: string;
  readonly summary: string;
  readonly operands: string;
  /** The words that its operand may be, if not any. */
  readonly choices?: readonly string[];
  readonly minOperands?: number;
  readonly maxOperands: number;
  /** What to do instead of giving more operands. */
  readonly further?: string;
  readonly options: readonly OptionSpec[];
  /** Whether it writes to the store: an error of the store then exits 73, else 74. */
  readonly changesStore?: boolean;
  /** Whether it handles signals itself. */
  readonly handlesSignals?: boolean;
  readonly about: readonly string[];
  readonly examples: readonly (readonly [command: string, what: string])[];
  load(): Promise<CommandRun>;
}

/** Options of every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "V", help: "the version" },
];
