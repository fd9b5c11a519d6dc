/**
 * Refusals: what the caller of a tool is told if the call is not made because of its artifacts.
 * @module
 */
import { alternatives } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import type { ArtifactToolResult } from "../../core/types.js";
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
    `${opening(place)}: it is not known in which form the tool takes a file there. Write ${offers(place.id, ["text", "base64", "data_uri"])}: text is its characters as they are.`,
  );
}

/** The tool expects text, and the bytes are not UTF-8. */
export function noText(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: its bytes are not UTF-8 text. Write ${offers(place.id, ["base64", "data_uri"])}.`,
  );
}

/** The arguments would be too large. */
export function tooMuch(place: Place, maxBytes: number): Refusal {
  return new Refusal(
    `${opening(place)}: the arguments would then be larger than ${sizeText(maxBytes)}, the most that servers accept. Do not retry with the same artifact; pass a part of it, or a smaller one.`,
  );
}

/** Too many references. */
export function tooMany(tool: string, most: number): Refusal {
  return new Refusal(
    `${quoteName(tool)} was not called: the arguments name more than ${most} artifacts. Pass fewer in one call.`,
  );
}

/** The arguments are too complex to search for references. */
export function tooComplex(tool: string, why: string): Refusal {
  return new Refusal(`${quoteName(tool)} was not called, because its arguments name artifacts. ${why}`);
}

/** Retention removed the artifact. */
export function refuseExpired(place: Place): Refusal {
  return new Refusal(`${opening(place)}: it is no longer stored. Do not retry with it; call the tool that made it.`);
}

/** The store failed. Its own message is not shown, because it may contain secrets. */
export function unreadable(place: Place): Refusal {
  return new Refusal(`${opening(place)}: the store could not read it. Tell the user, and call the tool that made it.`);
}

/** The store did not answer in time. */
export function tooSlow(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: the store did not answer in time. Try again later, and tell the user if that does not help.`,
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
    `${opening(place)}: there is no such artifact here. Check the URI, or call the tool that made it. An artifact can only be passed to tools of the server that it came from.`,
  );
}

/** The tool expects a path, and there are no files here. */
export function noPath(place: Place): Refusal {
  return new Refusal(
    `${opening(place)}: the tool is configured to take the path of a file there, and no file can be written here. Tell the user.`,
  );
}

function opening({ tool, path, id }: Place): string {
  const where = path.length === 0 ? "as its arguments" : `in ${quoteName(pathText(path))}`;
  return `${quoteName(tool)} was not called with artifact://${id} ${where}`;
}

function offers(id: string, forms: readonly string[]): string {
  return alternatives(forms.map((form) => `artifact://${id}?as=${form}`));
}

function quoteName(name: string): string {
  return JSON.stringify(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

function sizeText(bytes: number): string {
  const mebi = 1024 * 1024;
  return bytes >= mebi ? `${Math.floor(bytes / mebi)} MiB` : `${bytes} bytes`;
}
