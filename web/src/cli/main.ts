#!/usr/bin/env node
/**
 * The command line. Loads the table of commands, and of the rest only what the command needs.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { Exit, exitCodeOf, UsageError } from "./exit.js";
import { parse, type Request } from "./parse.js";
import { Output, PipeClosed, type Terminal } from "./terminal.js";
import { printable } from "./words.js";

/** How long a command may take to clear up once it was told to end. */
const GRACE_MS = 2000;

const interrupt = new AbortController();
const terminal: Terminal = {
  input: process.stdin,
  output: new Output(process.stdout, process.env, interrupt.signal),
  errors: new Output(process.stderr, process.env),
  env: process.env,
  signal: interrupt.signal,
};

process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  let ended: number | undefined;
  // The first signal lets the command leave nothing half-written; a second one ends it as usual.
  const end = (code: number) => () => {
    ended = code;
    interrupt.abort();
    setTimeout(() => process.exit(code), GRACE_MS).unref();
  };
  process.once("SIGINT", end(Exit.interrupted)).once("SIGTERM", end(Exit.terminated));
  let request: Request | undefined;
  try {
    request = parse(argv);
    return await answer(request);
  } catch (error) {
    if (ended !== undefined) return ended;
    if (error instanceof PipeClosed) return Exit.ok;
    await report(error, request).catch(() => undefined);
    return exitCodeOf(error, request?.kind === "run" && request.spec.changesStore === true);
  }
}

async function answer(request: Request): Promise<number> {
  if (request.kind === "run") {
    const command = await request.spec.load();
    return command.run(request.invocation, terminal);
  }
  if (request.kind === "version") {
    const { version } = await import("./version.js");
    await terminal.output.write(`sluice ${await version()}\n`);
    return Exit.ok;
  }
  await terminal.output.write(await helpOn(request.topic, terminal.output));
  return Exit.ok;
}

async function helpOn(topic: string, output: Output): Promise<string> {
  const { commandHelp, groupHelp, programHelp } = await import("./help.js");
  const { COMMANDS } = await import("./commands.js");
  if (topic === "") return programHelp(output);
  const command = COMMANDS.find(({ name }) => name === topic);
  return command === undefined ? groupHelp(topic, output) : commandHelp(command, output);
}

/** One sentence on standard error; for a wrong command line also where to read more, for a store which it was. */
async function report(error: unknown, request: Request | undefined): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  await terminal.errors.write(`sluice: ${message.split("\n").map(printable).join("\n")}\n`);
  if (error instanceof UsageError) {
    const command = ["sluice", error.command, "--help"].filter((word) => word !== "").join(" ");
    await terminal.errors.write(`Try: ${command}\n`);
  }
  if (error instanceof SluiceError && error.code.startsWith("E_STORE_") && request?.kind === "run") {
    const { storeFolder } = await import("./store.js");
    await terminal.errors.write(`The store is ${printable(storeFolder(request.invocation.value("store")))}\n`);
  }
}
