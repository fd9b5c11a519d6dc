/**
 * A request for consent, and what of it comes back from a store that others may have written to.
 * @module
 */
import type { TokenOwner } from "./owner.js";

/** What has to be known when the answer comes. */
export interface PendingRequest {
  readonly owner: TokenOwner;
  readonly trace_id: string | null;
  readonly provider: string;
  /** Who was asked, for which client: the code goes to no others. */
  readonly identity: string;
  /** The secret half of the PKCE challenge. */
  readonly verifier: string;
}

/** One that was taken: what held when it began. */
export interface TakenRequest extends PendingRequest {
  /** Random, and another after each `forget`; null where there was none of late. */
  readonly generation: string | null;
}

/** A request in a store. */
export interface NotedRequest extends TakenRequest {
  /** By which it is kept: what a store mixed up is not taken for another's answer. */
  readonly state: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** As `generateRandomState` and `generateRandomCodeVerifier` make them. */
const RANDOM = /^[\w-]{43}$/;

/** Whether a text is of the form that our states have. */
export function isOurs(state: string): boolean {
  return RANDOM.test(state);
}

/** Whether what was kept by this state is a request, whole. */
export function isPendingRequest(value: unknown, state: string): value is NotedRequest {
  if (!isRecord(value) || !isRecord(value["owner"])) return false;
  const { owner, trace_id, provider, identity, verifier, generation, until } = value;
  return (
    value["state"] === state &&
    isTextOrNull(owner["tenant_id"]) &&
    isText(owner["user_id"]) &&
    owner["user_id"] !== "" &&
    isTextOrNull(trace_id) &&
    isText(provider) &&
    isText(identity) &&
    isText(verifier) &&
    RANDOM.test(verifier) &&
    isTextOrNull(generation) &&
    Number.isFinite(until)
  );
}

/** The states in a list of them; none where it is damaged. */
export function statesOf(value: unknown): readonly string[] {
  const states: unknown = isRecord(value) ? value["states"] : undefined;
  return Array.isArray(states)
    ? states.filter((state): state is string => typeof state === "string" && isOurs(state))
    : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
