/**
 * The worker that answers questions in Node.
 * @module
 */
import { parentPort, workerData } from "node:worker_threads";
import { QueryServant } from "./thread.js";
import type { WorkerData, WorkerMessage, WorkerRequest } from "./thread-node.js";

const { control, bytes } = workerData as WorkerData;

const NOTHING = { artifact: -1, offset: 0, length: 0 };

/** The bytes that are in the shared memory. */
let held = NOTHING;

function say(message: WorkerMessage): void {
  parentPort?.postMessage(message, []);
}

function readShared(artifact: number, offset: number, into: Uint8Array): number {
  const isHeld = held.artifact === artifact && offset >= held.offset && offset < held.offset + held.length;
  if (!isHeld) {
    Atomics.store(control, 0, 0);
    say({ read: [artifact, offset] });
    // A signal for the bytes before may come late, when these are waited for.
    while (Atomics.load(control, 0) === 0) Atomics.wait(control, 0, 0);
    const length = Atomics.load(control, 1);
    held = { artifact, offset, length: Math.max(0, length) };
    if (length <= 0) return length;
  }
  const from = offset - held.offset;
  const part = bytes.subarray(from, Math.min(held.length, from + into.length));
  into.set(part);
  return part.length;
}

let servant = new QueryServant(readShared);

async function answer(request: WorkerRequest): Promise<void> {
  if (request.is === "begin" || request.is === "end") {
    held = NOTHING;
    servant = new QueryServant(readShared);
  }
  if (request.is === "end") return;
  try {
    say({ answer: await servant.answer(request) });
  } catch (error) {
    say({ trap: String(error) });
  }
}

parentPort?.on("message", (request: WorkerRequest) => void answer(request));
