/**
 * What transports need of an interceptor.
 * @module
 */
import type { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import type { MessageSink } from "../jsonrpc/message-reader.js";
import type { FollowUp } from "./call-limit.js";
import type { ListedTool } from "./catalog.js";
import { joinBatch } from "./client-request.js";
import type { Refused } from "./message-refusal.js";

/** What to do with a message from the client. */
export interface ClientMessageOutcome {
  /** The message to send to the server. */
  readonly forward?: Uint8Array;
  /** Answers to send to the client, one message each. Those of our own tools take a while; undefined if the client cancelled the request. */
  readonly answers: readonly Promise<string | undefined>[];
  /** What to send until the server has answered, or in its place: of each limited call. */
  readonly followUps?: readonly AsyncIterable<FollowUp>[];
}

/** Writes the bytes of one message. */
export interface MessageWriter {
  /** Resolves when more can be written. Callers may then reuse the memory. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the message. */
  end(): Promise<void>;
  /** Discards unfinished work. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** An interceptor as transports use it. See {@link McpInterceptor}. */
export interface Interceptor {
  /**
   * Handles a whole message from the client, of at most MAX_MESSAGE bytes. If it has to wait for a store, `later` gets
   * its outcome and the messages behind it go on; without `later` the call waits.
   */
  fromClient(bytes: Uint8Array, later?: (held: Promise<ClientMessageOutcome>) => void): Promise<ClientMessageOutcome>;
  /** Returns what to send each side about a larger message from the client. */
  refuse(message: JsonRpcScanner): Refused;
  /** Opens a writer for a message from the server. */
  fromServer(
    sink: Pick<MessageSink, "forward" | "complete" | "nonProtocol">,
    reply: (text: string) => void,
  ): MessageWriter;
  /** The server is gone: returns an answer for every waiting request. */
  abandon(sentence: string): readonly string[];
  /** Forgets a request that will not be answered. `id` is JSON text. */
  forget(id: string): void;
  /** Whether a request waits for an answer. `id` is JSON text. */
  isWaiting(id: string): boolean;
  /** A tool as the server listed it. */
  tool(name: string): ListedTool | undefined;
  /** How many requests wait for an answer. */
  readonly waiting: number;
}

/** Combines the outcomes of a batch's elements. */
export async function combineOutcomes(
  bytes: Uint8Array,
  batch: readonly Uint8Array[],
  each: readonly (ClientMessageOutcome | Promise<ClientMessageOutcome>)[],
): Promise<ClientMessageOutcome> {
  const outcomes: ClientMessageOutcome[] = [];
  for (const one of each) outcomes.push(await one);
  if (batch.length === 0) return outcomes[0] as ClientMessageOutcome;
  const forwarded = outcomes.flatMap(({ forward }) => (forward === undefined ? [] : [forward]));
  const answers = outcomes.flatMap((one) => one.answers);
  const followUps = outcomes.flatMap((one) => one.followUps ?? []);
  if (forwarded.length === 0) return { answers };
  const isUnchanged = forwarded.length === batch.length && forwarded.every((one, index) => one === batch[index]);
  return { forward: isUnchanged ? bytes : joinBatch(forwarded), answers, followUps };
}
