/**
 * What is in front: passes connections on as they come, to processes that say that they are ready. Where none is, to all, as
 * balancers do, so that clients are told why.
 * @module
 */
import { connect, createServer } from "node:net";

const EVERY = 250;

export class Balancer {
  #backends;
  #turn = 0;
  #timer;
  #server;
  #sockets = new Set();

  constructor(ports) {
    this.#backends = ports.map((port) => ({ port, isReady: true }));
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      client.on("error", () => undefined);
      this.#pass(client, this.#order());
    });
    this.#timer = setInterval(() => this.#backends.forEach((each) => void this.#look(each)), EVERY);
  }

  static async started(ports) {
    const balancer = new Balancer(ports);
    await new Promise((resolve) => balancer.#server.listen(0, "127.0.0.1", resolve));
    balancer.port = balancer.#server.address().port;
    return balancer;
  }

  async #look(backend) {
    if (backend.isLooking) return;
    backend.isLooking = true;
    const signal = AbortSignal.timeout(3000);
    backend.isReady = await fetch(`http://127.0.0.1:${backend.port}/ready`, { signal }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    backend.isLooking = false;
  }

  /** Those that are ready first, in turn. */
  #order() {
    this.#turn += 1;
    const turned = this.#backends.map((_, at, all) => all[(at + this.#turn) % all.length]);
    return [...turned.filter(({ isReady }) => isReady), ...turned.filter(({ isReady }) => !isReady)];
  }

  #pass(client, [first, ...others]) {
    if (first === undefined) return client.destroy();
    const server = connect({ port: first.port, host: "127.0.0.1", allowHalfOpen: true });
    const early = () => this.#pass(client, others);
    server.once("error", early);
    server.once("connect", () => {
      server.off("error", early);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ]) {
        one.setNoDelay(true);
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
        this.#sockets.add(one);
        one.on("close", () => this.#sockets.delete(one));
      }
      client.pipe(server);
      server.pipe(client);
    });
    return undefined;
  }

  async [Symbol.asyncDispose]() {
    clearInterval(this.#timer);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
