/**
 * The command line in this process: for what a command says and with which code it ends, where a process of its own adds
 * nothing. One at a time, since the standard streams and the environment are those of the test.
 * @module
 */
import { run } from "../../../web/src/cli/program.js";
import type { Ended, RunOptions } from "./command.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

let last: Promise<unknown> = Promise.resolve();

/** What of a run the command line has here. Who gives it input needs a process: standard input is nobody's here. */
type HereOptions = Pick<RunOptions, "cwd" | "env"> & { readonly input?: never };

/** Runs `sluice` to its end, without input. */
export function sluiceHere(args: readonly string[], options: HereOptions = {}): Promise<Ended> {
  const ended = last.then(() => captured(args, options));
  last = ended.catch(() => undefined);
  return ended;
}

async function captured(args: readonly string[], { cwd, env = {} }: HereOptions): Promise<Ended> {
  const out = kept(process.stdout);
  const err = kept(process.stderr);
  const before = replaced(env);
  const folder = process.cwd();
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  try {
    if (cwd !== undefined) process.chdir(cwd);
    const code = await run(args);
    return { code, stdout: out.text(), stderr: err.text().replace(NODE_WARNING, "") };
  } finally {
    for (const [signal, known] of listeners) {
      for (const each of process.listeners(signal)) if (!known.includes(each)) process.off(signal, each);
    }
    process.chdir(folder);
    replaced(before);
    out.restore();
    err.restore();
  }
}

/** Of a file that a command leaves to the end of its process, which is not over here. */
const NODE_WARNING = /^\(node:\d+\) .*\n|^\(Use `node --trace-.*\n/gm;

/** Keeps what is written to a stream, and from it. */
function kept(stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
  const chunks: Buffer[] = [];
  const write = stream.write.bind(stream);
  const keep = (data: string | Uint8Array, done?: (error?: Error | null) => void): boolean => {
    chunks.push(Buffer.from(data as string));
    done?.();
    return true;
  };
  stream.write = keep as typeof stream.write;
  return { text: () => Buffer.concat(chunks).toString(), restore: () => (stream.write = write) };
}

/** Sets variables, and returns what they were; one that is undefined is unset. */
function replaced(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return before;
}
