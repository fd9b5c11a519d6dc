/** A way to a server on which bytes can get lost. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A port that leads to another one. */
export interface Tunnel {
  readonly url: string;
  /** From now on nothing comes out of the connections that there are, and nobody is told. */
  freeze(): void;
  /** Breaks off all connections. */
  cut(): void;
}

/** Until the test is over. */
export async function tunnelTo(port: number): Promise<Tunnel> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((inner) => {
    const outer = connect(port, "127.0.0.1");
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    inner.pipe(outer);
    outer.pipe(inner);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const pair of pairs) for (const each of pair) each.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer).resume();
        outer.unpipe(inner).resume();
      }
    },
    cut,
  };
}
