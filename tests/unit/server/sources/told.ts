/**
 * The events of an answer, one after the other.
 * @module
 */
import { EventSourceParserStream } from "eventsource-parser/stream";

/** The data of an event. */
export type Told = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** Reads server-sent events. */
export class Telling implements AsyncDisposable {
  /** The id of the last event that had one. */
  lastId: string | undefined;
  readonly #reader: ReadableStreamDefaultReader<{ id?: string | undefined; event?: string | undefined; data: string }>;

  constructor(response: Response) {
    if (response.body === null) throw new Error(`an answer without a body: ${response.status}`);
    const text = response.body.pipeThrough(new TextDecoderStream());
    this.#reader = text.pipeThrough(new EventSourceParserStream()).getReader();
  }

  /** The next event, of this kind where one is named: others are passed over. Null at the end. */
  async next(kind?: string): Promise<Told | null> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      // It only says how to come back; a server of MCP that takes its time begins with one.
      if (value.data === "") continue;
      const told = JSON.parse(value.data) as Told;
      // Messages of MCP have no kind.
      if (value.event !== ((told.kind as string | undefined) ?? "message"))
        throw new Error(`${told.kind} is sent as ${value.event}`);
      this.lastId = value.id ?? this.lastId;
      if (kind === undefined || told.kind === kind) return told;
    }
  }

  /** All until the end. */
  async rest(): Promise<readonly Told[]> {
    const all: Told[] = [];
    for (let told = await this.next(); told !== null; told = await this.next()) all.push(told);
    return all;
  }

  /** Leaves. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Whether nothing of a kind comes for so many milliseconds. */
export async function isSilent(telling: Telling, kind: string, milliseconds: number): Promise<boolean> {
  const late = new Promise<true>((resolve) => setTimeout(() => resolve(true), milliseconds));
  return Promise.race([late, telling.next(kind).then((told) => told === null)]);
}
