/**
 * What a caller is told when a call is not made for its artifacts.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { TextResult } from "../reading/definition.js";
import { pathText, type ArgumentPath } from "./form.js";

/** Thrown where a call must not be made; carries what its caller is told. */
export class Refusal extends Error {
  /** What failed, where that is no fault of the caller's. */
  readonly failure: SluiceError | undefined;

  constructor(sentence: string, failure?: SluiceError) {
    super(sentence);
    this.failure = failure;
  }

  /** The result in place of the tool's own. */
  get result(): TextResult {
    return { content: [{ type: "text", text: this.message }], isError: true };
  }
}

/** A place in arguments, as it is named to a caller. */
export interface Place {
  readonly tool: string;
  readonly path: ArgumentPath;
  readonly id: string;
}

const MAX_NAME = 100;

/** Nobody says in which form the place takes a file. */
export function unknownForm(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: it is not known in which form the tool takes a file there, so write ${offers(place.id, ["base64", "data_uri", "text"])}.`,
  );
}

/** A text is wanted, and the bytes are none. */
export function noText(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its bytes are no UTF-8 text, so write ${offers(place.id, ["base64", "data_uri"])}.`,
  );
}

/** More than may be sent. */
export function tooMuch(place: Place, maxBytes: number): Refusal {
  return new Refusal(
    `${opening(place)}: with it the arguments would come to more than ${sizeText(maxBytes)}, which is more than servers take; do not retry with the same artifact, pass a part of it or a smaller one.`,
  );
}

/** More references than are looked at. */
export function tooMany(tool: string, most: number): Refusal {
  return new Refusal(
    `The call of ${named(tool)} was not made: it names more than ${most} artifacts; pass fewer in one call.`,
  );
}

/** The arguments are beyond what is read for references. */
export function tooComplex(tool: string, why: string): Refusal {
  return new Refusal(`The call of ${named(tool)} was not made: its arguments name artifacts, but: ${why}`);
}

/** What retention took. */
export function expired(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: it is no longer kept; do not retry with it, call the tool again that gave it.`,
  );
}

/** A store that failed; its own words may name what a model must not see. */
export function unreadable(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its store could not read it; tell the user, and call the tool again that gave it.`,
  );
}

/** A store that did not answer for so many milliseconds. */
export function tooSlow(place: Place, milliseconds: number): Refusal {
  const seconds = `${milliseconds / 1000} s`;
  return new Refusal(
    `${opening(place)}: its store did not answer within ${seconds}; try again later, and tell the user if it stays so.`,
    new SluiceError(
      "E_STORE_READ",
      `The store did not answer within ${seconds}, so a call was not made: check the disk or the service that it is on.`,
    ),
  );
}

/** An artifact of another server's, of nobody's, or one that could not be stored. */
export function notHere(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: no such artifact is known here. An artifact can be passed to tools of the server that it came from; check the URI, or call the tool again that gave it.`,
  );
}

/** A path is wanted where there are none. */
export function noPath(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: the tool is configured to take the path of a file there, and here none can be written; tell the user.`,
  );
}

function opening({ tool, path, id }: Place): string {
  const where = path.length === 0 ? "as its arguments" : `in ${named(pathText(path))}`;
  return `The call of ${named(tool)} was not made for artifact://${id} ${where}`;
}

function offers(id: string, forms: readonly string[]): string {
  const uris = forms.map((form) => `artifact://${id}?as=${form}`);
  return `${uris.slice(0, -1).join(", ")} or ${uris.at(-1) ?? ""}`;
}

function named(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

function sizeText(bytes: number): string {
  const mebi = 1024 * 1024;
  return bytes >= mebi ? `${Math.floor(bytes / mebi)} MiB` : `${bytes} bytes`;
}
