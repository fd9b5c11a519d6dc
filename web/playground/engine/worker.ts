/**
 * The entry of the worker: offers the engine through Comlink.
 * @module
 */
import { expose, transfer } from "comlink";
import { PlaygroundEngine } from "./playground-engine.js";

/** Transfers streams, which cannot be cloned. */
class OfferedEngine extends PlaygroundEngine {
  override async raw(result: string): Promise<ReadableStream<Uint8Array>> {
    return handOver(await super.raw(result));
  }

  override async bytes(...asked: Parameters<PlaygroundEngine["bytes"]>): Promise<ReadableStream<Uint8Array> | null> {
    const stream = await super.bytes(...asked);
    return stream === null ? null : handOver(stream);
  }

  override async readText(
    ...asked: Parameters<PlaygroundEngine["readText"]>
  ): Promise<ReadableStream<Uint8Array> | null> {
    const stream = await super.readText(...asked);
    return stream === null ? null : handOver(stream);
  }
}

function handOver(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return transfer(stream, [stream]);
}

expose(new OfferedEngine());
