/**
 * Runs a command line: parses it, loads the command's module, reports errors. Loads nothing that the command does not need.
 * @module
 */
import { Exit, toExitCode } from "./exit.js";
import { report } from "./terminal/report.js";
import { parse, type Request } from "./parse.js";
import { Output, PipeClosed, type Terminal } from "./terminal/terminal.js";

/** Milliseconds that a command may take to clean up after a signal. */
const GRACE_MS = 2000;

const interrupt = new AbortController();
const terminal: Terminal = {
  input: process.stdin,
  output: new Output(process.stdout, process.env, interrupt.signal),
  errors: new Output(process.stderr, process.env),
  env: process.env,
  signal: interrupt.signal,
};

/** Runs a command line and returns the exit code. Reports errors on standard error. */
export async function run(argv: readonly string[]): Promise<number> {
  let ended: number | undefined;
  // The first signal lets the command clean up. A second one ends it as usual.
  const end = (code: number) => () => {
    ended = code;
    interrupt.abort();
    setTimeout(() => process.exit(code), GRACE_MS).unref();
  };
  let request: Request | undefined;
  try {
    request = parse(argv);
    if (request.kind !== "run" || request.spec.handlesSignals !== true) {
      process.once("SIGINT", end(Exit.interrupted)).once("SIGTERM", end(Exit.terminated));
    }
    return await answer(request);
  } catch (error) {
    if (ended !== undefined) return ended;
    if (error instanceof PipeClosed) return Exit.ok;
    const store = request?.kind === "run" ? request.invocation.value("store") : undefined;
    await report(error, terminal.errors, store).catch(() => undefined);
    return toExitCode(error, request?.kind === "run" && request.spec.changesStore === true);
  }
}

async function answer(request: Request): Promise<number> {
  if (request.kind === "run") {
    const command = await request.spec.load();
    return command(request.invocation, terminal);
  }
  if (request.kind === "version") {
    const { version } = await import("../server/version.js");
    await terminal.output.write(`sluice ${await version()}\n`);
    return Exit.ok;
  }
  await terminal.output.write(await helpOn(request.topic, terminal.output));
  return Exit.ok;
}

async function helpOn(topic: string, output: Output): Promise<string> {
  const { commandHelp, groupHelp, programHelp } = await import("./help.js");
  const { COMMANDS } = await import("./commands/commands.js");
  if (topic === "") return programHelp(output);
  const command = COMMANDS.find(({ name }) => name === topic);
  return command === undefined ? groupHelp(topic, output) : commandHelp(command, output);
}
