/** A proxy in front of a service: what it does to an answer is for a test to say. */
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What was asked. */
export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** How many requests came before it that the fault looked at. */
  readonly turn: number;
}

/** An answer that is on its way. */
export interface Passing {
  readonly answer: IncomingMessage;
  readonly response: ServerResponse;
}

/** What is done instead of passing a request on, or its answer; undefined to do neither. */
export interface Fault {
  before?(asked: Asked, response: ServerResponse): boolean;
  after?(asked: Asked, passing: Passing): boolean;
}

export class FaultyProxy implements AsyncDisposable {
  fault: Fault = {};
  readonly seen: Asked[] = [];
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, response) => this.#pass(incoming, response));
  }

  static async before(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Another fault from now on, and turns from 0. */
  set(fault: Fault): void {
    this.fault = fault;
    this.seen.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = "", url: path = "", headers } = incoming;
    const asked = { method, path, turn: this.seen.length };
    this.seen.push(asked);
    response.on("error", () => undefined);
    if (this.fault.before?.(asked, response) === true) {
      incoming.resume();
      return;
    }
    const { hostname, port } = this.#target;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      answer.on("error", () => response.destroy());
      if (this.fault.after?.(asked, { answer, response }) === true) return;
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    // Whoever asked may be gone before the answer.
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  }
}

/** Answers as a service that is out of order. */
export function refuse(response: ServerResponse, status: number, code: string): true {
  response.writeHead(status, { "content-type": "application/xml", connection: "close" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>bucket sluice-tests, key k</Message></Error>`);
  return true;
}
