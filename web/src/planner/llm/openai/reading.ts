/**
 * The answer of a model's server as it comes: a stream of events, or one object.
 * @module
 */
import { createParser } from "eventsource-parser";
import { adaptFetchError, fromStatus } from "../../../tools/adapt-error.js";
import { subjectOf } from "../../../tools/adapting/place.js";
import { ToolClientError } from "../../../tools/errors.js";
import { chunksIn } from "../../../core/value.js";
import type { TurnAttempt } from "../asking.js";
import type { LlmAnswer } from "../client.js";
import { MAX_ANSWER_BYTES } from "../limits.js";
import { Assembly, errorIn } from "./assembly.js";
import {
  brokenOff,
  isRedirect,
  noCompletion,
  noJson,
  reasonOf,
  redirected,
  said,
  told,
  type Failing,
} from "./failures.js";

/** Bytes of an answer that is none, in which its reason is looked for. */
const MAX_REASON_BYTES = 64 * 1024;

/** What reading needs. */
export interface Reading extends TurnAttempt, Failing {}

/**
 * Reads an answer to its end.
 *
 * @throws ToolNodeErrors of the place; the signal's reason.
 */
export async function answerOf(response: Response, reading: Reading): Promise<LlmAnswer> {
  if (!response.ok) throw await refusal(response, reading);
  const type = response.headers.get("content-type") ?? "";
  if (/^\s*application\/json/i.test(type)) return object(response, reading);
  return stream(response, reading, /^\s*text\/event-stream/i.test(type));
}

/** An answer that is one object: it is whole, or it is none. */
async function object(response: Response, reading: Reading): Promise<LlmAnswer> {
  const answer = parsed(await whole(response, reading, MAX_ANSWER_BYTES));
  const error = errorIn(answer);
  if (error !== undefined) throw told(error, reading, true);
  const assembly = new Assembly();
  const text = assembly.take(answer);
  if (!assembly.hasMessage) throw noCompletion(response, reading);
  if (text !== "") reading.onText(text);
  return assembly.answer();
}

/** @param isSaid whether the server says that it streams: then what ends without a word was broken off. */
async function stream(response: Response, reading: Reading, isSaid: boolean): Promise<LlmAnswer> {
  const assembly = new Assembly();
  let count = 0;
  await events(response, reading, (text) => {
    const chunk = parsed(text);
    count += 1;
    if (chunk === undefined) throw assembly.hasChoices ? noJson(reading) : noCompletion(response, reading);
    const error = errorIn(chunk);
    if (error !== undefined) throw told(error, reading, false);
    const added = assembly.take(chunk);
    if (added !== "") reading.onText(added);
  });
  if (assembly.isEnded) return assembly.answer();
  throw assembly.hasChoices || (isSaid && count === 0) ? brokenOff(reading) : noCompletion(response, reading);
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function events(response: Response, reading: Reading, take: (text: string) => void): Promise<void> {
  let failure: unknown;
  const onEvent = ({ data }: { readonly data: string }): void => {
    // The parser calls back within `feed`, and what is thrown there would leave it in between.
    if (failure !== undefined || data === "[DONE]") return;
    try {
      take(data);
    } catch (error) {
      failure = error;
    }
  };
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  for await (const chunk of bounded(response, reading, MAX_ANSWER_BYTES)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (failure !== undefined) throw failure as Error;
  }
  // Not every server ends its last event with an empty line.
  parser.feed("\n\n");
  if (failure !== undefined) throw failure as Error;
}

async function whole(response: Response, reading: Reading, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bounded(response, reading, most)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

async function* bounded(
  response: Response,
  { place, signal, alive }: Reading,
  most: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of chunksIn(response)) {
      alive();
      bytes += chunk.byteLength;
      if (bytes > most) break;
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw adaptFetchError(error, place);
  }
  if (bytes > most) {
    const remedy = "limit its answer, with max_tokens";
    throw new ToolClientError(`${subjectOf(place)} gave an answer of more than ${most} bytes: ${remedy}.`);
  }
}

/** What an answer says that is none: its status, and why, where the server has a sentence for it. */
async function refusal(response: Response, reading: Reading): Promise<Error> {
  const { status, headers } = response;
  const error = isRedirect(response) ? redirected(response, reading) : fromStatus(status, headers, reading.place);
  // Who is not known may have sent a secret that is somebody else's; what a redirect says is where it leads.
  if (status === 401 || status === 403 || isRedirect(response)) {
    await response.body?.cancel().catch(() => undefined);
    return error;
  }
  const reason = await whole(response, reading, MAX_REASON_BYTES).then(reasonOf, () => "");
  error.message += said(reason, reading);
  return error;
}
