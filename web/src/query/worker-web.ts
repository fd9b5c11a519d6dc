/**
 * The web worker that answers questions.
 * @module
 */
import { QueryServant } from "./thread.js";
import type { WorkerAnswer, WorkerRequest } from "./thread-web.js";

/** Only the types of workers have it. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

const blobs: Blob[] = [];

/** Reads a blob while the question waits, which only workers may. */
const servant = new QueryServant((artifact, offset, into) => {
  try {
    const part = (blobs[artifact] as Blob).slice(offset, offset + into.length);
    const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(part));
    into.set(bytes);
    return bytes.length;
  } catch {
    return -1;
  }
});

const postAnswer = (answer: WorkerAnswer): void => postMessage(answer);

onmessage = async ({ data }: MessageEvent<WorkerRequest>): Promise<void> => {
  if ("blob" in data) {
    blobs.push(data.blob);
    return;
  }
  try {
    postAnswer({ answer: await servant.answer(data.request) });
  } catch (error) {
    postAnswer({ trap: String(error) });
  }
};
