/**
 * Conversion in a child process, which alone can be ended whatever it does, and whose memory can be limited.
 *
 * The child reads one line of JSON, the request, and then the document from its standard input. It writes frames: a byte that tells
 * what it is, four bytes of its length, big-endian, and its content.
 * @module
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import type { Readable, Writable } from "node:stream";
import { SluiceError } from "../errors/error.js";
import type { ConversionFacts } from "./conversion.js";
import { unreadable } from "./document.js";
import {
  type ConversionFailure,
  type ConversionTask,
  toError,
  type ConversionLimits,
  LIMITS,
  overLimit,
} from "./sandbox.js";

/** What a frame is: content, the facts behind it, a failure. */
export const Frame = { content: 1, facts: 2, failure: 3 } as const;

/** Bytes before the content of a frame. */
export const FRAME_HEAD = 5;

/** Most bytes of a frame's content. */
export const MAX_FRAME: number = 256 * 1024;

/** The program of the child, by its name in the package. Given as a parameter, bundlers do not take it for a part of theirs. */
function programAt(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    throw unreadable(
      "The program that reads documents is missing: install mcp-sluice as a package, without bundling it.",
    );
  }
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** See {@link Sandbox}. */
export async function convertInWorker(task: ConversionTask): Promise<ConversionFacts> {
  const { request, input, signal } = task;
  signal?.throwIfAborted();
  const limits: ConversionLimits = { ...LIMITS, ...task.limits };
  const child = startChild(limits);
  const overdue = new AbortController();
  const limit = setTimeout(() => {
    overdue.abort();
    child.kill("SIGKILL");
  }, limits.time);
  const stop = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", stop);
  const ended = once(child, "close") as Promise<[number | null, string | null]>;
  const fed = feed(child, JSON.stringify(request), input);
  fed.catch(stop);
  try {
    const facts = await readAnswer(child, task.write, limits.output);
    // What went wrong with the source matters more than what the child made of half a document.
    await fed;
    if (facts !== undefined) return facts;
    const [, reason] = await ended;
    signal?.throwIfAborted();
    if (overdue.signal.aborted) throw overLimit("time");
    // It kills itself for memory, and its engine aborts for the heap's.
    if (reason === "SIGKILL" || reason === "SIGABRT") throw overLimit("memory");
    throw toError({ code: "E_DOCUMENT", message: "" });
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener("abort", stop);
    child.kill("SIGKILL");
    await Promise.allSettled([fed, ended]);
  }
}

/** Milliseconds by which the child's own limit of time is longer, which is for a parent that is gone. */
const LATER = 5000;

function startChild({ memory, time }: ConversionLimits): Child {
  const megabytes = Math.max(16, Math.floor(memory / 2 / 1024 ** 2));
  const program = programAt("#child");
  const args = [`--max-old-space-size=${megabytes}`, program, String(memory), String(time + LATER)];
  try {
    // It inherits nothing that is secret.
    return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env: {}, windowsHide: true });
  } catch (cause) {
    throw new SluiceError(
      "E_DOCUMENT",
      "Documents are read by a process of their own, and this one may not start any: give Deno --allow-run and --allow-env.",
      {},
      { cause },
    );
  }
}

/** Writes the request and the document. A child that wants no more is no error. */
async function feed({ stdin }: Child, request: string, input: AsyncIterable<Uint8Array>): Promise<void> {
  // What it says of a pipe that the child closed: `writable` tells as well.
  stdin.on("error", () => undefined);
  stdin.write(`${request}\n`);
  for await (const chunk of input) {
    if (!stdin.writable) return;
    // The chunk belongs to the source, which uses it again.
    if (stdin.write(Uint8Array.from(chunk))) continue;
    // The one that does not happen must not listen on: there is one for each piece of the document.
    const waited = new AbortController();
    const { signal } = waited;
    await Promise.race([once(stdin, "drain", { signal }), once(stdin, "close", { signal })]).catch(() => undefined);
    waited.abort();
  }
  stdin.end();
}

/** Reads the answer. Undefined if the child ended without one. */
async function readAnswer(
  { stdout }: Child,
  write: ConversionTask["write"],
  most: number,
): Promise<ConversionFacts | undefined> {
  let output = 0;
  for await (const { kind, content } of readFrames(stdout as AsyncIterable<Buffer>)) {
    if (kind === Frame.content) {
      output += content.length;
      if (output > most) throw overLimit("output");
      await write(content);
      continue;
    }
    const answer: unknown = JSON.parse(content.toString("utf8"));
    if (kind === Frame.failure) throw toError(answer as ConversionFailure);
    return answer as ConversionFacts;
  }
  return undefined;
}

async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<{ kind: number; content: Buffer }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + rest.readUInt32BE(1);
      if (end > FRAME_HEAD + MAX_FRAME) throw overLimit("output");
      if (rest.length < end) break;
      yield { kind: rest[0] as number, content: rest.subarray(FRAME_HEAD, end) };
      rest = rest.subarray(end);
    }
  }
}
