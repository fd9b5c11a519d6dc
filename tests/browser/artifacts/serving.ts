/** A store in a worker or service worker that does what it is told. */
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import type { ArtifactWriter } from "mcp-sluice";

/** What the other side may be asked. */
export interface Remote {
  putText(text: string): Promise<string>;
  putBytes(size: number, fill: number): Promise<string>;
  get(id: string): Promise<number | null>;
  delete(id: string): Promise<boolean>;
  /** Writes bytes into a writer that is never closed. */
  begin(size: number): Promise<void>;
  /** Stores and deletes the same over and over; gives how often. */
  churn(size: number, rounds: number): Promise<number>;
}

/** One question. */
export interface Question {
  readonly name: string;
  readonly method: keyof Remote;
  readonly args: readonly unknown[];
}

const stores = new Map<string, IndexedDbArtifactStore>();
/** So that nothing takes them for garbage. */
const writers: ArtifactWriter[] = [];

/** Answers a question that came over a port. */
export async function answer({ name, method, args }: Question): Promise<unknown> {
  const store = stores.get(name) ?? new IndexedDbArtifactStore({ name, retention: null });
  stores.set(name, store);
  const remote: Remote = {
    putText: async (text) => (await store.putText(text)).id,
    putBytes: async (size, fill) => (await store.putBytes(new Uint8Array(size).fill(fill))).id,
    get: async (id) => (await store.get(id))?.byteLength ?? null,
    delete: (id) => store.delete(id),
    begin: async (size) => {
      const writer = await store.openWriter();
      writers.push(writer);
      await writer.write(new Uint8Array(size));
    },
    churn: async (size, rounds) => {
      const bytes = new Uint8Array(size).fill(7);
      for (let round = 0; round < rounds; round++) {
        const { id } = await store.putBytes(bytes);
        if (round % 2 === 0) await store.delete(id);
      }
      return rounds;
    },
  };
  return (remote[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args);
}

/** Answers over a port until it is closed. */
export function serve(port: MessagePort | Worker): void {
  const reply = async ({ data }: MessageEvent<{ id: number; question: Question }>): Promise<void> => {
    try {
      port.postMessage({ id: data.id, value: await answer(data.question) });
    } catch (error) {
      port.postMessage({ id: data.id, failure: String(error) });
    }
  };
  port.addEventListener("message", (event) => void reply(event as MessageEvent));
  if (port instanceof MessagePort) port.start();
}
