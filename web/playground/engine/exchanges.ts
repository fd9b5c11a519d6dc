/**
 * Requests and notifications with their answers, of the messages that were recorded; and how a server introduces itself.
 * Loaded when a view shows them.
 * @module
 */
import type { ShownAbout, ShownExchange, ShownMessage } from "./messages.js";
import { MAX_KEPT, type RecordedCall, type RecordedMessage, type RecordedTrip, type Recorder } from "./recorder.js";

/** What is known of a message from its text. */
interface Envelope {
  readonly kind: "request" | "notification" | "answer" | "other";
  readonly method: string;
  /** As JSON text; empty if there is none. */
  readonly id: string;
  readonly isError: boolean;
  readonly params: Readonly<Record<string, unknown>>;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Open = Writable<ShownExchange> & { readonly isSent: boolean };

/** The exchanges of a server, the oldest first. */
export function listExchanges(server: string, { messages, calls }: Recorder): readonly ShownExchange[] {
  const made: Open[] = [];
  const trips = new Map<RecordedTrip, Open>();
  const claimed = new Set<RecordedCall>();
  messages.forEach((message, index) => {
    const { isSent, at, trip } = message;
    const envelope = readEnvelope(message);
    if (envelope.kind === "answer" || envelope.kind === "other") {
      const asked = findAsker(made, trips, message, envelope);
      if (asked !== undefined) {
        asked.answer = toShownMessage(message);
        asked.duration = at - asked.at;
        asked.state = envelope.isError || envelope.kind === "other" ? "error" : "done";
        return;
      }
    }
    const by = isSent ? findCall(envelope, message, calls, claimed) : trips.get(trip)?.call;
    const exchange: Open = {
      key: `${server} ${at} ${index} ${envelope.id}`,
      server,
      isSent,
      method: envelope.method,
      id: envelope.id,
      at,
      state: envelope.kind === "request" ? "open" : "done",
      request: toShownMessage(message),
      ...(trip.status !== undefined && { status: trip.status }),
      ...(by !== undefined && { call: by }),
    };
    made.push(exchange);
    if (isSent && !trips.has(trip)) trips.set(trip, exchange);
    if (isSent && envelope.kind !== "request" && trip.failure !== undefined) exchange.state = "error";
  });
  for (const [trip, exchange] of trips) settle(exchange, trip);
  return made;
}

/** A request whose response ended without an answer has failed, unless answers come over another stream. */
function settle(exchange: Open, { endedAt, failure, status = 0 }: RecordedTrip): void {
  if (exchange.state !== "open" || endedAt === undefined) return;
  if (failure === undefined && status < 400) return;
  exchange.state = failure === "cancelled" ? "cancelled" : "error";
  exchange.duration = endedAt - exchange.at;
  exchange.problem = failure ?? `HTTP ${status}`;
}

function findAsker(
  made: readonly Open[],
  trips: ReadonlyMap<RecordedTrip, Open>,
  { isSent, trip }: RecordedMessage,
  { id, kind }: Envelope,
): Open | undefined {
  const own = isSent ? undefined : trips.get(trip);
  if (own?.state === "open" && (own.id === id || id === "" || kind === "other")) return own;
  return made.findLast((each) => each.state === "open" && each.isSent !== isSent && each.id === id);
}

/** The page's call that a request belongs to: the first one of its tool with these arguments that has none yet. */
function findCall(
  { method, params }: Envelope,
  { at, text }: RecordedMessage,
  calls: readonly RecordedCall[],
  claimed: Set<RecordedCall>,
): string | undefined {
  if (method !== "tools/call") return undefined;
  const name = typeof params["name"] === "string" ? params["name"] : /"name"\s*:\s*"([^"]{1,256})"/.exec(text)?.[1];
  const args = JSON.stringify(params["arguments"] ?? {});
  const fit = calls.filter(({ tool, from, to = Infinity }) => tool === name && from <= at && at <= to + 1);
  const exact = fit.filter(({ args: own }) => JSON.stringify(own) === args);
  const among = exact.length > 0 ? exact : fit;
  const call = among.find((each) => !claimed.has(each)) ?? among.at(-1);
  if (call !== undefined) claimed.add(call);
  return call?.id;
}

function toShownMessage({ text, size }: RecordedMessage): ShownMessage {
  return { text: text.slice(0, MAX_KEPT), size, isCut: size > MAX_KEPT };
}

function readEnvelope({ text, tail }: RecordedMessage): Envelope {
  const parsed = tail === "" ? objectIn(text) : undefined;
  if (parsed !== undefined) {
    const { method, id, error, params } = parsed;
    const isAnswer = method === undefined && (error !== undefined || parsed["result"] !== undefined);
    const asked = id === undefined ? "notification" : "request";
    return {
      kind: typeof method === "string" ? asked : isAnswer ? "answer" : "other",
      method: typeof method === "string" ? method : "",
      id: id === undefined || id === null ? "" : JSON.stringify(id),
      isError: error !== undefined || toObject(parsed["result"])["isError"] === true,
      params: toObject(params),
    };
  }
  if (tail === "") return { kind: "other", method: "", id: "", isError: false, params: {} };
  // Only its ends are known. Members of the envelope come before or after what is large.
  const method = /^\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|-?\d+)\s*,)*\s*"method"\s*:\s*"([^"]{1,200})"/.exec(
    text,
  )?.[1];
  const before = /^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"]*"\s*,)*\s*"id"\s*:\s*("[^"]*"|-?\d+)/.exec(text)?.[1];
  const after = /"id"\s*:\s*("[^"]*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail)?.[1];
  const last = /"method"\s*:\s*"([^"]{1,200})"[^{}]*\}\s*$/.exec(tail)?.[1];
  const named = method ?? last;
  const kind = named === undefined ? "answer" : (before ?? after) === undefined ? "notification" : "request";
  return {
    kind,
    method: named ?? "",
    id: before ?? after ?? "",
    isError: /^\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|-?\d+)\s*,)*\s*"error"\s*:/.test(text),
    params: {},
  };
}

/** How a server introduced itself when it was connected; undefined if it is not known. */
export function readAbout({ introduction }: Recorder): ShownAbout | undefined {
  const answer = introduction.slice(1).find(({ text }) => /"capabilities"\s*:/.test(text));
  const result = answer === undefined ? undefined : objectIn(answer.text)?.["result"];
  if (result === undefined) return undefined;
  const { serverInfo, capabilities, protocolVersion, supportedVersions, instructions, _meta } = toObject(result);
  // From 2026-07-28 on, the server's name is in `_meta` where it is not a member.
  const info = toObject(serverInfo ?? toObject(_meta)["io.modelcontextprotocol/serverInfo"]);
  const version = protocolVersion ?? (Array.isArray(supportedVersions) ? supportedVersions.join(", ") : "");
  return {
    name: toText(info["title"] ?? info["name"]),
    version: toText(info["version"]),
    protocol: toText(version),
    capabilities: toObject(capabilities),
    instructions: toText(instructions),
  };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
