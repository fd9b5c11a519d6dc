/**
 * The command line in this process: for what a command says and with which code it ends, where a process of its own adds
 * nothing. One at a time, since the standard streams and the environment are those of the test.
 * @module
 */
import { run } from "../../../web/src/cli/program.js";
import type { Ended, RunOptions } from "./command.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs `sluice` to its end, without input. */
export async function sluiceHere(args: readonly string[], { env = {} }: Pick<RunOptions, "env"> = {}): Promise<Ended> {
  const out = captured(process.stdout);
  const err = captured(process.stderr);
  const before = replaced(env);
  const listeners = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  try {
    const code = await run(args);
    return { code, stdout: out.text(), stderr: err.text() };
  } finally {
    for (const [signal, known] of listeners) {
      for (const each of process.listeners(signal)) if (!known.includes(each)) process.off(signal, each);
    }
    replaced(before);
    out.restore();
    err.restore();
  }
}

/** Keeps what is written to a stream, and from it. */
function captured(stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
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
