/**
 * Conversion in a web worker, which can be ended whatever it does.
 * @module
 */
import type { ConversionFacts, ConversionRequest } from "./conversion.js";
import { unreadable } from "./document.js";
import {
  collectBytes,
  type ConversionFailure,
  type ConversionTask,
  toError,
  type ConversionLimits,
  LIMITS,
  overLimit,
} from "./sandbox.js";

/** What the worker is told. */
export interface WorkerRequest {
  readonly request: ConversionRequest;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What the worker says: content, and at the end facts or a failure. */
export type WorkerAnswer =
  | { readonly content: Uint8Array }
  | { readonly facts: ConversionFacts }
  | { readonly failure: ConversionFailure };

/** See {@link Sandbox}. */
export async function convertInWorker({
  request,
  input,
  write,
  limits,
  signal,
}: ConversionTask): Promise<ConversionFacts> {
  signal?.throwIfAborted();
  if (typeof Worker === "undefined")
    throw unreadable("Documents cannot be read in this runtime: it has no web workers.");
  const bytes = await collectBytes(input);
  signal?.throwIfAborted();
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  try {
    return await readAnswer(worker, { request, bytes }, write, { ...LIMITS, ...limits }, signal);
  } finally {
    worker.terminate();
  }
}

function readAnswer(
  worker: Worker,
  task: WorkerRequest,
  write: ConversionTask["write"],
  limits: ConversionLimits,
  signal: AbortSignal | undefined,
): Promise<ConversionFacts> {
  return new Promise((resolve, reject) => {
    let output = 0;
    let writing = Promise.resolve();
    const limit = setTimeout(() => reject(overLimit("time")), limits.time);
    const rejectAborted = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", rejectAborted, { once: true });
    const end = (act: () => void): void => {
      clearTimeout(limit);
      signal?.removeEventListener("abort", rejectAborted);
      writing.then(act, reject);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerAnswer>): void => {
      if ("facts" in data) end(() => resolve(data.facts));
      else if ("failure" in data) end(() => reject(toError(data.failure)));
      else {
        output += data.content.length;
        if (output > limits.output) end(() => reject(overLimit("output")));
        else writing = writing.then(() => write(data.content));
        writing.catch(reject);
      }
    });
    worker.addEventListener("error", () =>
      end(() => reject(unreadable("The part that reads documents could not be loaded: reload the page."))),
    );
    worker.postMessage(task, [task.bytes.buffer]);
  });
}
