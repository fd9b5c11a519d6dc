/**
 * What servers write on standard error, and what we write there ourselves.
 * @module
 */
import { ServerProcess } from "../../transports/server-process.js";
import type { Output, Terminal } from "../terminal.js";

/** Bytes of our own noise that wait to be read. */
const MOST_UNREAD = 1024 * 1024;

/** A server that runs. */
export interface StartedServer {
  readonly server: ServerProcess;
  /** Settles when all that it wrote on standard error is passed on. */
  readonly noise: Promise<void>;
}

/**
 * Starts a command whose standard error is passed on. A pipe that it inherited would be a blocking one for us too: writing
 * there would then stop everything until somebody reads. A terminal is handed on as it is.
 *
 * @param env the whole environment; that of this process where left out.
 */
export async function startServer(
  [program = "", ...args]: readonly string[],
  terminal: Terminal,
  env?: NodeJS.ProcessEnv,
): Promise<StartedServer> {
  const stderr = terminal.errors.isTerminal ? "inherit" : "pipe";
  const server = await ServerProcess.start(program, { args, stderr, ...(env !== undefined && { env }) });
  return { server, noise: server.stderr === null ? Promise.resolve() : passOn(server.stderr, terminal.errors) };
}

/** The server waits for whoever reads its noise, as it would without us. */
async function passOn(noise: AsyncIterable<Uint8Array>, errors: Output): Promise<void> {
  try {
    for await (const chunk of noise) await errors.write(chunk);
  } catch {
    // Nobody reads any more, or the server is gone: either way there is nobody to tell.
  }
}

/** Writes without waiting, and drops what nobody reads: messages must not stand still for noise. */
export function lossy(errors: Output): (bytes: Uint8Array) => Promise<void> {
  let unread = 0;
  return (bytes) => {
    if (unread > MOST_UNREAD) return Promise.resolve();
    unread += bytes.length;
    const written = (): void => {
      unread -= bytes.length;
    };
    errors.write(bytes).then(written, written);
    return Promise.resolve();
  };
}
