/**
 * An interceptor that changes nothing.
 * @module
 */
import { copyBytes } from "../jsonrpc/bytes.js";
import { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import type { MessageSink } from "../jsonrpc/message-reader.js";
import { requestsIn } from "./client-request.js";
import { toFailedEnd, requestOperation } from "./request-operation.js";
import type { ClientMessageOutcome, Interceptor, MessageWriter } from "./interceptor-interface.js";
import type { InterceptorEvent } from "./interceptor-event.js";
import { InFlight } from "./in-flight.js";
import { refuseMessage, tooLargeForServer, type Refused } from "./message-refusal.js";

/** Forwards everything unchanged, and tracks which requests wait for answers. */
export class PassThrough implements Interceptor {
  readonly #inFlight = new InFlight();
  readonly #onEvent: (event: InterceptorEvent) => void;
  readonly #namespace: string;

  /** `onEvent` is called for messages that cannot be forwarded. `namespace` is the server's, for telemetry. */
  constructor(onEvent: (event: InterceptorEvent) => void = () => undefined, namespace: string = "") {
    this.#onEvent = onEvent;
    this.#namespace = namespace;
  }

  async fromClient(bytes: Uint8Array): Promise<ClientMessageOutcome> {
    for (const request of requestsIn(bytes))
      this.#inFlight.open(request, { operation: requestOperation(request, this.#namespace) });
    return { forward: bytes, answers: [] };
  }

  refuse(message: JsonRpcScanner): Refused {
    this.#onEvent({ kind: "failed", error: tooLargeForServer(message) });
    return refuseMessage(message);
  }

  fromServer(sink: Pick<MessageSink, "forward" | "complete" | "nonProtocol">): MessageWriter {
    const members = new JsonRpcScanner();
    let isMessage: boolean | undefined;
    return {
      write: async (bytes) => {
        const first = bytes.find((byte) => byte > 0x20);
        if (first !== undefined) isMessage ??= first === 0x7b || first === 0x5b;
        if (isMessage === undefined) return;
        members.push(bytes);
        await (isMessage ? sink.forward(copyBytes(bytes)) : sink.nonProtocol(copyBytes(bytes)));
      },
      end: async () => {
        if (members.text("method") === undefined)
          this.#inFlight.close(members.text("id"), members.member("error") && toFailedEnd(""));
        if (isMessage === true) await sink.complete();
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  abandon(sentence: string): readonly string[] {
    return this.#inFlight.abandon(sentence);
  }

  forget(id: string): void {
    this.#inFlight.close(id);
  }

  isWaiting(id: string): boolean {
    return this.#inFlight.find(id) !== undefined;
  }

  tool(): undefined {
    return undefined;
  }

  get waiting(): number {
    return this.#inFlight.waiting;
  }
}
