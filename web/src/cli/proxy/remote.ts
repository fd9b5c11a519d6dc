/**
 * A client on our standard streams, and a server at an address.
 * @module
 */
import { passClientLines } from "../../mcp/lines.js";
import type { Door } from "../../mcp/door.js";
import { PlainDoor } from "../../mcp/doorway.js";
import { LineWriter } from "../../transports/line-writer.js";
import { Exit } from "../exit.js";
import type { Terminal } from "../terminal.js";
import type { Header } from "./headers.js";
import { logOf } from "./log.js";
import { RemoteServer } from "./remote-server.js";

/** Which server, and for whom. */
export interface RemoteTerms {
  readonly url: URL;
  /** Headers for every request. */
  readonly headers: readonly Header[];
  /** Left out, everything passes as it is. */
  readonly door: Door | undefined;
  readonly terminal: Terminal;
}

/** Who started us; another one once that has ended. */
const PARENT = process.ppid;

/** How often, in milliseconds, it is looked for. */
const LOOK = 500;

const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Works until the client has sent its last and got every answer, or a signal comes. Gives the exit code. */
export async function runRemote({ url, headers, door: gate, terminal }: RemoteTerms): Promise<number> {
  const door = gate ?? new PlainDoor(logOf(terminal.errors));
  const { input } = terminal;
  let end: (code: number) => void;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  for (const [signal, code] of ENDS) process.once(signal, () => end(code));
  const client = new LineWriter(async (bytes) => {
    try {
      await terminal.output.write(bytes);
    } catch (error) {
      // Nobody reads any more.
      end(Exit.ok);
      throw error;
    }
  });
  const server = new RemoteServer({ url, headers, door, client });
  const passed = passClientLines(input as AsyncIterable<Uint8Array>, door, {
    server: (line) => server.send(line),
    client: (text) => client.line(text),
  })
    // An input that cannot be read has ended.
    .catch(() => undefined)
    .then(() => {
      // Who has ended before the answers came cannot be told by its output until something is written.
      const parent = setInterval(() => process.ppid !== PARENT && end(Exit.ok), LOOK);
      return server.settled().finally(() => clearInterval(parent));
    });
  const code = await Promise.race([passed.then(() => Exit.ok), ended]);
  await server.close();
  input.destroy();
  return code;
}
