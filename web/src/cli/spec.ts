/**
 * What a command is: its words, options and examples, and the module that does its work.
 * @module
 */
import type { Terminal } from "./terminal.js";

/** One option. Without `value` it is a switch. */
export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** How help names the value, e.g. `DIR`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly multiple?: boolean;
  readonly help: string;
}

/** What a command line said, checked against the command's table. */
export interface Invocation {
  readonly command: string;
  readonly operands: readonly string[];
  /** The value of an option that takes one; undefined where it was not given. */
  value(name: string): string | undefined;
  /** All values of an option that may be repeated. */
  values(name: string): readonly string[];
  /** Whether a switch was given. */
  has(name: string): boolean;
}

/** What a command's module exports. */
export interface CommandModule {
  /** Does the work and gives the exit code. Throws SluiceError, CommandError, PipeClosed. */
  run(invocation: Invocation, terminal: Terminal): Promise<number>;
}

/** A command. Its module is loaded only when it runs, so that starting costs no more than it must. */
export interface CommandSpec {
  /** `transform`, `artifacts get`. */
  readonly name: string;
  readonly summary: string;
  readonly operands: string;
  readonly minOperands?: number;
  readonly maxOperands: number;
  readonly options: readonly OptionSpec[];
  /** Whether it writes to the store; a refusal then exits 73, else 74. */
  readonly changesStore?: boolean;
  /** Whether signals are its own to handle. */
  readonly handlesSignals?: boolean;
  readonly about: readonly string[];
  readonly examples: readonly (readonly [command: string, what: string])[];
  load(): Promise<CommandModule>;
}
