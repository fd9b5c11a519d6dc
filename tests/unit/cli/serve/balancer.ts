/**
 * A balancer in front of processes: it looks at `GET ready` of each, and sends connections only to those that answer 200.
 * @module
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Milliseconds between two looks. */
const EVERY = 100;

export class Balancer {
  readonly #ports: number[];
  readonly #ready = new Set<number>();
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = [...ports];
  }

  /** In front of these ports of this machine. Gives itself, and its URL. */
  static async before(...ports: readonly number[]): Promise<{ readonly balancer: Balancer; readonly url: string }> {
    const balancer = new Balancer(ports);
    const server = createServer((client) => balancer.#passed(client)).listen(0, "127.0.0.1");
    await once(server, "listening");
    await balancer.#look();
    const looking = setInterval(() => void balancer.#look(), EVERY);
    onTestFinished(() => {
      clearInterval(looking);
      server.close();
    });
    return { balancer, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  }

  /** Which ports get connections now. */
  get ready(): readonly number[] {
    return [...this.#ready];
  }

  async #look(): Promise<void> {
    await Promise.all(
      this.#ports.map(async (port) => {
        const status = await fetch(`http://127.0.0.1:${port}/ready`, { headers: { connection: "close" } }).then(
          async (answer) => {
            await answer.arrayBuffer();
            return answer.status;
          },
          () => 0,
        );
        if (status === 200) this.#ready.add(port);
        else this.#ready.delete(port);
      }),
    );
  }

  #passed(client: Socket): void {
    const ready = this.ready;
    const port = ready[this.#turn++ % ready.length];
    if (port === undefined) return void client.destroy();
    const server = connect({ port, host: "127.0.0.1" });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.once("close", () => to.destroy());
    }
  }
}
