/** Asking a store in a worker. */
import type { Question, Remote } from "./serving.js";

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}

/** The store behind a port, in the database of this name. */
export function asked(port: Worker | MessagePort, name: string): Remote {
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  port.addEventListener("message", (event) => {
    const { data } = event as MessageEvent<Answer>;
    waiting.get(data.id)?.(data);
  });
  if (port instanceof MessagePort) port.start();
  const ask = (method: keyof Remote, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ value, failure }) => (failure === undefined ? resolve(value) : reject(new Error(failure))));
      port.postMessage({ id, question: { name, method, args } satisfies Question });
    });
  return new Proxy({} as Remote, {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        ask(method as keyof Remote, args),
  });
}

/** A worker with a store. */
export function newWorker(): Worker {
  return new Worker(new URL("store-worker.ts", import.meta.url), { type: "module" });
}
