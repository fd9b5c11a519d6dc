/**
 * A client on our standard streams, and a server at an address.
 * @module
 */
import { passClientLines } from "../../mcp/client-lines.js";
import type { Door } from "../../mcp/door.js";
import { PlainDoor } from "../../mcp/doorway.js";
import { LineWriter } from "../../transports/line-writer.js";
import { Exit } from "../exit.js";
import type { Terminal } from "../terminal.js";
import type { Header } from "./headers.js";
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

const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Works until the client has sent its last and got every answer, or a signal comes. Gives the exit code. */
export async function runRemote({ url, headers, door: gate, terminal }: RemoteTerms): Promise<number> {
  const door = gate ?? new PlainDoor();
  const { input } = terminal;
  const ended = deferred();
  for (const [signal, code] of ENDS) process.once(signal, () => ended.resolve(code));
  const client = new LineWriter(async (bytes) => {
    try {
      await terminal.output.write(bytes);
    } catch (error) {
      // Nobody reads any more.
      ended.resolve(Exit.ok);
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
    .then(() => server.settled());
  const code = await Promise.race([passed.then(() => Exit.ok), ended.promise]);
  await server.close();
  input.destroy();
  return code;
}

function deferred(): { readonly promise: Promise<number>; readonly resolve: (code: number) => void } {
  let resolve: (code: number) => void = () => undefined;
  const promise = new Promise<number>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
