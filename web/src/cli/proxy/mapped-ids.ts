/**
 * Ids of several clients' requests on one connection: each gets a number, and its own text back.
 * @module
 */
import {
  applyEdits,
  parseJson,
  replaceEdit,
  sourceOf,
  valueAt,
  type Edit,
  type ValueNode,
} from "../../mcp/json-text.js";
import { MessageMembers } from "../../transports/members.js";

/** A request under its number. */
interface Mapped {
  readonly bytes: Uint8Array;
  /** The number, which is also its progress token. */
  readonly key: string;
}

interface Own {
  /** JSON text of the id. */
  readonly id: string;
  /** JSON text of the progress token. */
  readonly token: string | undefined;
}

/** Larger notifications carry no progress. */
const MAX_NOTIFICATION = 64 * 1024;

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** What of messages may have to be put back, so that others are not looked into. */
const TRACES = ["progressToken", "requestId", SUBSCRIPTION];

/** Numbers requests, and knows which they were. */
export class MappedIds {
  readonly #own = new Map<string, Own>();
  #last = 0;

  /** Gives a request of a client's its number. */
  request(text: string): Mapped {
    this.#last += 1;
    const key = String(this.#last);
    const message = parseJson(text);
    const id = valueAt(message, "id");
    const token = valueAt(valueAt(valueAt(message, "params"), "_meta"), "progressToken");
    this.#own.set(key, {
      id: id === undefined ? "null" : sourceOf(text, id),
      token: token === undefined ? undefined : sourceOf(text, token),
    });
    const edits = [id, token].flatMap((node) => (node === undefined ? [] : [replaceEdit(node, key)]));
    return { bytes: new TextEncoder().encode(applyEdits(text, edits)), key };
  }

  /** A notification of a client's, about the request that has this id as JSON text: the last one, if there are more. */
  notification(text: string): Uint8Array {
    const edits = this.#edits(text, (json) => [...this.#own].findLast(([, { id }]) => id === json)?.[0]);
    return new TextEncoder().encode(applyEdits(text, edits));
  }

  /** A message of the server's as the client knows it, and the number of the request that it belongs to. */
  back(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly key: string | undefined } {
    const members = new MessageMembers();
    members.push(bytes);
    const key = members.text("method") === undefined ? members.text("id")?.trim() : undefined;
    const own = this.#own.get(key ?? "");
    const { start = 0, end = 0 } = own === undefined ? {} : (members.member("id") ?? {});
    const told = own === undefined ? bytes : spliced(bytes, start, end, own.id);
    if (told.length > MAX_NOTIFICATION) return { bytes: told, key };
    const text = new TextDecoder().decode(told);
    if (!TRACES.some((trace) => text.includes(trace))) return { bytes: told, key };
    let about: string | undefined;
    const edits = this.#edits(text, (json, isToken) => {
      const { id, token } = this.#own.get(json) ?? {};
      if (id !== undefined) about = json;
      return isToken ? token : id;
    });
    return { bytes: new TextEncoder().encode(applyEdits(text, edits)), key: key ?? about };
  }

  /** The id of a request, as its client wrote it. */
  own(key: string): string | undefined {
    return this.#own.get(key)?.id;
  }

  close(key: string): void {
    this.#own.delete(key);
  }

  #edits(text: string, find: (json: string, isToken: boolean) => string | undefined): Edit[] {
    const message = parseJson(text);
    const params = valueAt(message, "params");
    const places: readonly (readonly [ValueNode | undefined, boolean])[] = [
      [valueAt(params, "requestId"), false],
      [valueAt(params, "progressToken"), true],
      [valueAt(valueAt(params, "_meta"), SUBSCRIPTION), false],
      [valueAt(valueAt(valueAt(message, "result"), "_meta"), SUBSCRIPTION), false],
    ];
    return places.flatMap(([node, isToken]) => {
      const instead = node === undefined ? undefined : find(sourceOf(text, node), isToken);
      return node === undefined || instead === undefined ? [] : [replaceEdit(node, instead)];
    });
  }
}

function spliced(bytes: Uint8Array, start: number, end: number, text: string): Uint8Array {
  const middle = new TextEncoder().encode(text);
  const whole = new Uint8Array(start + middle.length + bytes.length - end);
  whole.set(bytes.subarray(0, start));
  whole.set(middle, start);
  whole.set(bytes.subarray(end), start + middle.length);
  return whole;
}

/** Replaces the id of one message. */
export class IdSwap {
  readonly #ownOf: (key: string) => string | undefined;
  /** Bytes before the next piece. */
  #at = 0;
  #isDone = false;

  /** `ownOf` gives the JSON text that replaces an id; one that it does not know stays. */
  constructor(ownOf: (key: string) => string | undefined) {
    this.#ownOf = ownOf;
  }

  /** What is written for a piece; `about` knows the message at least up to the piece's end. */
  pieces(bytes: Uint8Array, about: MessageMembers): readonly Uint8Array[] {
    const from = this.#at;
    this.#at += bytes.length;
    const id = about.member("id");
    if (id === undefined) return [bytes];
    const { start, end = Number.POSITIVE_INFINITY } = id;
    const within = (place: number): number => Math.min(Math.max(place - from, 0), bytes.length);
    const own = end <= this.#at && !this.#isDone ? this.#own(about) : new Uint8Array(0);
    return [bytes.subarray(0, within(start)), own, bytes.subarray(within(end))];
  }

  #own(about: MessageMembers): Uint8Array {
    this.#isDone = true;
    const text = about.text("id") ?? "null";
    return new TextEncoder().encode(this.#ownOf(text.trim()) ?? text);
  }
}
