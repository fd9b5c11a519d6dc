/**
 * Turns errors of Redis servers and connections into coded errors.
 * @module
 */
import { SluiceError, type ErrorCode } from "../errors/error.js";
import { newerSentence } from "../errors/layout.js";
import { systemCode, TEXT_TOO_LARGE, type StorageAct } from "../errors/storage.js";

/** The scripts' error for data that no store wrote. */
export const DAMAGED = "DAMAGED";
/** The scripts' error for data of a newer version. */
export const NEWER = "NEWER";
/** The scripts' error for data with more bytes than allowed. */
export const LARGE = "LARGE";

/** The connection failed. It is unknown whether the command was executed. */
export class ConnectionFailure extends Error {
  /** False if nothing was sent. */
  readonly isSent: boolean;

  constructor(isSent: boolean, cause: unknown) {
    super("The connection failed.", { cause });
    this.isSent = isSent;
  }
}

/** The server did not answer in time. */
export class NoAnswer extends Error {
  constructor(seconds: number) {
    super(`The Redis server did not answer within ${seconds} seconds: check its load and the network.`);
  }
}

type Kind = readonly [words: RegExp, code: ErrorCode | undefined, sentence: string];

const AWAY = "The Redis server cannot be reached: check the url, and that the server is running.";
const BROKE_OFF =
  "The connection to the Redis server was lost before it answered, so the command may have run: try again.";
const OTHER = "The Redis server refused a command: use Redis 6.2 or later, and allow Lua scripts.";
const UNTRUSTED =
  "The Redis server's certificate is not trusted: add its issuer to NODE_EXTRA_CA_CERTS, or pass a client that trusts it.";

// Before version 7 a script's error is in the middle of the sentence.
const word = (words: string): RegExp => new RegExp(`(?:^|[\\s:-])(?:${words})(?=\\s|$)`);
const PASSING = word("LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN|ERR max number of clients reached");
const KINDS: readonly Kind[] = [
  [word("OOM"), "E_STORE_FULL", "The Redis server is out of memory: raise its maxmemory, or store less in it."],
  [word(`WRONGTYPE|${DAMAGED}`), "E_STORE_CORRUPT", "The stored data is damaged: delete it and start again."],
  [word(NEWER), "E_STORE_READ", newerSentence("another prefix or server")],
  [word(LARGE), "E_TOO_LARGE", TEXT_TOO_LARGE],
  [
    word("NOAUTH|WRONGPASS|NOPERM|DENIED|AUTH|invalid password|unauthenticated|The user executing the script"),
    "E_STORE_DENIED",
    "The Redis server refused access: check the user and password, and that its ACL allows scripts and the store's keys and channels.",
  ],
  [word("READONLY"), "E_STORE_DENIED", "The Redis server is a read-only replica: use the primary's url."],
  [
    word("MISCONF"),
    "E_STORE_WRITE",
    "The Redis server cannot write to its own disk: see its log, and free some space.",
  ],
  [word("MOVED|ASK|CROSSSLOT"), undefined, "The Redis server is part of a cluster: give the store a cluster client."],
  [PASSING, undefined, "The Redis server is not ready: try again."],
];
const CERTIFICATE = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL/;
/** Most characters of a cause. */
const MAX_SHOWN = 200;

/** Whether to try again. A command that may have been executed is only repeated if that does no harm. */
export function mayPass(error: unknown, isRepeatable: boolean): boolean {
  if (!(error instanceof ConnectionFailure)) return PASSING.test(readMessage(error));
  if (error.isSent) return isRepeatable;
  const why = readMessage(error.cause);
  return PASSING.test(why) || !(isReply(error.cause) || isUntrusted(error.cause));
}

/** Whether it is a server's reply, which begins with a code in capitals. */
export function isReply(error: unknown): boolean {
  return systemCode(error) === undefined && /^-?[A-Z]{2,}\b/.test(readMessage(error));
}

/** Whether the server requires a password. */
export function wantsPassword(error: unknown): boolean {
  return word("NOAUTH").test(readMessage(error));
}

/** Whether the server is a replica, and another connection may lead to the primary. */
export function isReplica(error: unknown): boolean {
  return word("READONLY").test(readMessage(error));
}

/** A coded error. Neither it nor its cause contains a URL, a key, a password or data. */
export function redisError(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const other = act === "read" ? "E_STORE_READ" : "E_STORE_WRITE";
  if (error instanceof NoAnswer) return new SluiceError(other, error.message);
  const cause = error instanceof ConnectionFailure ? error.cause : error;
  const options = { cause: toSafeError(cause) };
  const kind = KINDS.find(([words]) => words.test(readMessage(cause)));
  if (kind !== undefined) return new SluiceError(kind[1] ?? other, kind[2], {}, options);
  if (isUntrusted(cause)) return new SluiceError("E_STORE_DENIED", UNTRUSTED, {}, options);
  if (isReply(cause)) return new SluiceError(other, OTHER, {}, options);
  const isSent = error instanceof ConnectionFailure ? error.isSent : true;
  return new SluiceError(other, isSent ? BROKE_OFF : AWAY, {}, options);
}

/** Whether the server does not know a script. */
export function isUnknownScript(error: unknown): boolean {
  return readMessage(error).startsWith("NOSCRIPT");
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

function isUntrusted(error: unknown): boolean {
  return CERTIFICATE.test(systemCode(error) ?? "");
}

/**
 * What can be shown of an error. Clients put commands into theirs, and servers quote commands and name other servers.
 */
function toSafeError(error: unknown): Error {
  const [code] = /^-?[A-Z]{2,}\b/.exec(readMessage(error)) ?? [];
  const isPlain = code === undefined || code === "ERR";
  return new Error(
    systemCode(error) ??
      (isPlain
        ? readMessage(error)
            .replace(/['"`][^]*$/, "…")
            .slice(0, MAX_SHOWN)
        : code),
  );
}
