/**
 * Refusals: what the caller of a tool is told if the call is not made because of its artifacts.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { ArtifactToolResult } from "../../core/sluice.js";
import { pathText, type ArgumentPath } from "./form.js";

/** Thrown if a call must not be made. Carries the message for the caller. */
export class Refusal extends Error {
  /** The failure, if it is not the caller's fault. */
  readonly failure: SluiceError | undefined;

  constructor(sentence: string, failure?: SluiceError) {
    super(sentence);
    this.failure = failure;
  }

  /** The result in place of the tool's own. */
  get result(): ArtifactToolResult {
    return { content: [{ type: "text", text: this.message }], isError: true };
  }
}

/** A place in arguments, as shown to the caller. */
export interface Place {
  readonly tool: string;
  readonly path: ArgumentPath;
  readonly id: string;
}

const MAX_NAME = 100;

/** The form for the place is unknown. */
export function unknownForm(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: it is not known in which form the tool takes a file there, so write ${offers(place.id, ["base64", "data_uri", "text"])}.`,
  );
}

/** The tool expects text, and the bytes are not UTF-8. */
export function noText(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its bytes are no UTF-8 text, so write ${offers(place.id, ["base64", "data_uri"])}.`,
  );
}

/** The arguments would be too large. */
export function tooMuch(place: Place, maxBytes: number): Refusal {
  return new Refusal(
    `${opening(place)}: with it the arguments would come to more than ${sizeText(maxBytes)}, which is more than servers take; do not retry with the same artifact, pass a part of it or a smaller one.`,
  );
}

/** Too many references. */
export function tooMany(tool: string, most: number): Refusal {
  return new Refusal(
    `The call of ${named(tool)} was not made: it names more than ${most} artifacts; pass fewer in one call.`,
  );
}

/** The arguments are too complex to search for references. */
export function tooComplex(tool: string, why: string): Refusal {
  return new Refusal(`The call of ${named(tool)} was not made: its arguments name artifacts, but: ${why}`);
}

/** Retention removed the artifact. */
export function expired(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: it is no longer stored; do not retry with it, call the tool that made it again.`,
  );
}

/** The store failed. Its own message is not shown, because it may contain secrets. */
export function unreadable(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its store could not read it; tell the user, and call the tool that made it again.`,
  );
}

/** The store did not answer in time. */
export function tooSlow(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its store did not answer in time; try again later, and tell the user if it stays so.`,
    new SluiceError(
      "E_STORE_READ",
      "The store did not answer in time, so a call was not made: check the disk or the service that it is on.",
    ),
  );
}

/** The text is nearly a reference: written to a file as it is, it would pass for the content. */
export function mistaken(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: the reference has a mistake in it. Write it exactly as a result gave it, artifact:// and the id, with nothing before or behind it but ?as=base64, ?as=data_uri or ?as=text.`,
  );
}

/** The artifact belongs to another server or owner, or was not stored. */
export function notHere(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: no such artifact is known here. An artifact can be passed to tools of the server that it came from; check the URI, or call the tool that made it again.`,
  );
}

/** The tool expects a path, and there are no files here. */
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
