/**
 * One port in front of several.
 * @module
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Passes connections on, to each port in turn; one that nobody listens at is left out. */
export class Balancer implements AsyncDisposable {
  readonly #server = createServer((client) => this.#pass(client));
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  #next = 0;
  /** The port that was connected to last. */
  last = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  static async over(...urls: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(urls.map((url) => Number(new URL(url).port)));
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, tries = this.#ports.length): void {
    const port = this.#ports[(this.#next += 1) % this.#ports.length] as number;
    const server = connect(port, "127.0.0.1");
    this.#sockets.add(client).add(server);
    client.on("error", () => server.destroy());
    server.once("connect", () => {
      this.last = port;
      server.on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.pipe(server).pipe(client);
    });
    server.on("error", () => {
      if (server.connecting || server.bytesRead + server.bytesWritten === 0) {
        if (tries > 1) this.#pass(client, tries - 1);
        else client.destroy();
      } else {
        client.destroy();
      }
    });
  }
}
