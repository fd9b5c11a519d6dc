/**
 * The answer of a model's server as it comes: a stream of events, or one object.
 * @module
 */
import { createParser } from "eventsource-parser";
import { adaptFetchError, fromStatus, type ToolPlace } from "../../../tools/adapt-error.js";
import { subjectOf } from "../../../tools/adapting/place.js";
import { ToolClientError, ToolConnectionError, ToolServerError } from "../../../tools/errors.js";
import { chunksOf } from "../../../tools/sources/body/chunks.js";
import type { TurnAttempt } from "../asking.js";
import type { LlmAnswer } from "../client.js";
import { MAX_ANSWER_BYTES } from "../limits.js";
import { Assembly, errorIn } from "./assembly.js";

/** Bytes of an answer that is none, in which its reason is looked for. */
const MAX_REASON_BYTES = 64 * 1024;
/** Characters of a server's own sentence. */
const MAX_SENTENCE = 300;

/** What reading needs. */
export interface Reading extends TurnAttempt {
  /** What must not be told to anybody, should the server quote it. */
  readonly secret: string | undefined;
}

/**
 * Reads an answer to its end.
 *
 * @throws ToolNodeErrors of the place; the signal's reason.
 */
export async function answerOf(response: Response, reading: Reading): Promise<LlmAnswer> {
  if (!response.ok) throw await refusal(response, reading);
  const type = response.headers.get("content-type") ?? "";
  const assembly = new Assembly();
  const take = (text: string): void => {
    const chunk = parsed(text, reading.place);
    const error = errorIn(chunk);
    if (error !== undefined) throw told(error, reading);
    const added = assembly.take(chunk);
    if (added !== "") reading.onText(added);
  };
  if (/^\s*application\/json/i.test(type)) take(await whole(response, reading, MAX_ANSWER_BYTES));
  else await events(response, reading, take);
  if (!assembly.isEnded) throw brokenOff(reading.place);
  return assembly.answer();
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
  { body }: Response,
  { place, signal, alive }: Reading,
  most: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(body)) {
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
  const error = fromStatus(status, headers, reading.place);
  // Who is not known may have sent a secret that is somebody else's.
  if (status === 401 || status === 403) {
    await response.body?.cancel().catch(() => undefined);
    return error;
  }
  const reason = await whole(response, reading, MAX_REASON_BYTES).then(reasonOf, () => "");
  error.message += quoted(reason, reading);
  return error;
}

function reasonOf(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    // Some put what went wrong into a list of one.
    return errorIn(Array.isArray(answer) ? answer[0] : answer)?.message ?? "";
  } catch {
    return "";
  }
}

/** An error in the middle of an answer, or in an answer that says that all is well. */
function told({ message, status }: NonNullable<ReturnType<typeof errorIn>>, reading: Reading): Error {
  const { place } = reading;
  const known = status !== undefined && fromStatus(status, undefined, place);
  const error =
    known || new ToolServerError(`${subjectOf(place)} failed in the middle of its answer: try again later.`);
  error.message += quoted(message, reading);
  return error;
}

/** The server's own sentence, defused: it is nobody's but the server's. */
function quoted(sentence: string, { secret }: Reading): string {
  const hidden = secret === undefined || secret === "" ? sentence : sentence.replaceAll(secret, "***");
  const line = hidden.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  if (line === "") return "";
  return ` It says: ${JSON.stringify(line.length > MAX_SENTENCE ? `${line.slice(0, MAX_SENTENCE)}…` : line)}`;
}

function parsed(text: string, place: ToolPlace): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ToolServerError(`${subjectOf(place)} gave an answer that is no JSON: check its address.`);
  }
}

function brokenOff(place: ToolPlace): ToolConnectionError {
  return new ToolConnectionError(
    `${subjectOf(place)} ended the connection before its answer was complete: try again later.`,
  );
}
