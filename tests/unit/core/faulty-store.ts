/**
 * A store that fails when it is told to, around one that works.
 * @module
 */
import type { ArtifactStore, ArtifactWriter } from "../../../web/src/artifacts/store.js";

/** Every call that a message may make: those of the store, `write`, `close`, `abort` of writers, `read` of readers. */
export type Call =
  | Exclude<keyof ArtifactStore, "list">
  | Exclude<keyof ArtifactWriter, typeof Symbol.asyncDispose>
  | "list"
  | "read";

/** Decides about each call, before it reaches the store: throws, gives a promise to wait for, or lets it pass. */
export type Fault = (call: Call, number: number) => unknown;

/** What was seen of a store. */
export interface Watched {
  readonly store: ArtifactStore;
  /** Calls so far, in order. */
  readonly calls: readonly Call[];
  /** Writers that were neither closed nor aborted. */
  readonly open: ReadonlySet<unknown>;
}

/** `inner` with a fault; calls are numbered from 1. */
export function faulty(inner: ArtifactStore, fault: Fault): Watched {
  const calls: Call[] = [];
  const open = new Set<unknown>();
  const on = async <T>(call: Call, work: () => Promise<T>): Promise<T> => {
    calls.push(call);
    await fault(call, calls.length);
    return work();
  };
  const store = intercepted(inner, (name, work) => {
    if (name === "list") return listing(on, work as () => AsyncIterable<unknown>);
    return on(name as Call, async () => {
      const result = await (work as () => Promise<unknown>)();
      if (name === "openWriter") return watchedWriter(result as ArtifactWriter, on, open);
      if (name === "openReader" && result !== null) return watchedReader(result as ReadableStream<Uint8Array>, on);
      return result;
    });
  });
  return { store, calls, open };
}

/** What is waited for until it is let go. */
export class Latch {
  release: () => void = () => undefined;
  readonly released: Promise<void> = new Promise((resolve) => {
    this.release = resolve;
  });
}

type On = <T>(call: Call, work: () => Promise<T>) => Promise<T>;

/** Throws `error` at the `nth` of all calls, or of one kind. */
export function failingAt(nth: number, error: unknown, kind?: Call): Fault {
  let seen = 0;
  return (call) => {
    if (kind !== undefined && call !== kind) return;
    seen += 1;
    if (seen === nth) throw error;
  };
}

function intercepted<T extends object>(target: T, call: (name: string, work: () => unknown) => unknown): T {
  return new Proxy(target, {
    get(_, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => call(String(name), () => Reflect.apply(value, target, args));
    },
  });
}

function watchedWriter(writer: ArtifactWriter, on: On, open: Set<unknown>): ArtifactWriter {
  open.add(writer);
  return intercepted(writer, (name, work) =>
    on(name as Call, async () => {
      const result = await (work as () => Promise<unknown>)();
      if (name === "close" || name === "abort") open.delete(writer);
      return result;
    }),
  );
}

function watchedReader(stream: ReadableStream<Uint8Array>, on: On): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        const { done, value } = await on("read", () => reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function* listing(on: On, work: () => AsyncIterable<unknown>): AsyncGenerator {
  yield* await on("list", () => Promise.resolve(work()));
}
