/**
 * `--scope K=V`: the owner of artifacts. The person at the command line owns the whole store, so without a scope commands
 * search all scopes.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { nearest } from "../../errors/arguments.js";
import { commandLine, type Invocation } from "../command.js";
import { UsageError } from "../exit.js";
import { printable } from "../terminal/terminal.js";

const KEYS = ["tenant_id", "user_id", "session_id", "trace_id"] as const;
type ScopeKey = (typeof KEYS)[number];

/** Parses the values of `--scope`; undefined if there are none. Throws UsageError. */
export function parseScope(pairs: readonly string[], command: string): ArtifactScope | undefined {
  if (pairs.length === 0) return undefined;
  const scope: Partial<Record<ScopeKey, string>> = {};
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1 || equals === pair.length - 1) {
      throw new UsageError(
        `--scope takes KEY=VALUE, for instance --scope session_id=s1; got ${JSON.stringify(pair)}`,
        command,
      );
    }
    const key = scopeKey(pair.slice(0, equals), command);
    if (scope[key] !== undefined) throw new UsageError(`--scope ${key} is given twice`, command);
    scope[key] = pair.slice(equals + 1);
  }
  return scope;
}

function scopeKey(word: string, command: string): ScopeKey {
  const found = KEYS.find((key) => key === word || key === `${word}_id`);
  if (found !== undefined) return found;
  const meant = nearest(word, [...KEYS, ...KEYS.map((key) => key.replace("_id", ""))]);
  const hint = meant === undefined ? `the keys are ${KEYS.join(", ")}` : `did you mean ${meant}?`;
  throw new UsageError(`--scope has no key ${JSON.stringify(word)}; ${hint}`, command);
}

/** `session_id=s1 user_id=u`, for people; empty for the null scope. */
export function scopeText(scope: ArtifactScope): string {
  return KEYS.filter((key) => scope[key] != null)
    .map((key) => `${key}=${String(scope[key])}`)
    .join(" ");
}

/** The id in `artifact://ID?…`, or the word itself. */
export function artifactId(word: string): string {
  return /^artifact:\/\/([^?#/]+)/.exec(word)?.[1] ?? word;
}

/** Every ref with this id, in `scope` or in all. */
export async function locateAll(
  store: ArtifactStore,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<ArtifactRef[]> {
  if (scope !== undefined) {
    const ref = await store.stat(id, scope);
    return ref === null ? [] : [ref];
  }
  const found: ArtifactRef[] = [];
  for await (const ref of store.list()) if (ref.id === id) found.push(ref);
  return found;
}

/**
 * The ref that a command line names.
 *
 * @throws SluiceError E_NOT_FOUND, and E_INVALID_ARGUMENT if scopes have different contents under its id.
 */
export async function locate(store: ArtifactStore, invocation: Invocation): Promise<ArtifactRef> {
  const id = artifactId(invocation.operands[0] ?? "");
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const found = await locateAll(store, id, scope);
  if (found.length > 0) return single(id, found);
  const list = commandLine("artifacts list", invocation, ["store"]);
  throw new SluiceError("E_NOT_FOUND", `${missing(id, scope)}; to see what it has, run \`${list}\``);
}

/** That a store has no artifact with this id. */
export function missing(id: string, scope: ArtifactScope | undefined): string {
  const where = scope === undefined ? "this store" : `the scope ${scopeText(scope)} of this store`;
  return `there is no artifact ${printable(id)} in ${where}`;
}

function single(id: string, found: readonly ArtifactRef[]): ArtifactRef {
  const [first] = found;
  if (first === undefined) throw new SluiceError("E_NOT_FOUND", missing(id, undefined));
  if (found.some(({ sha256 }) => sha256 !== first.sha256)) {
    const scopes = found.map((ref) => scopeText(ref.scope) || "none").join("; ");
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `${id} has different contents in several scopes (${printable(scopes)}); choose one with --scope`,
    );
  }
  return first;
}

/**
 * A view of the store in which reads without a scope find an artifact in whichever scope has it. Reads the store's list once,
 * when it is first needed.
 */
export function acrossScopes(store: ArtifactStore): ArtifactStore {
  let index: Promise<Map<string, ArtifactRef[]>> | undefined;
  const findScope = async (id: string): Promise<ArtifactScope | undefined> => {
    index ??= indexById(store);
    const found = (await index).get(id);
    return found === undefined ? undefined : single(id, found).scope;
  };
  return {
    putBytes: (data, info) => store.putBytes(data, info),
    putText: (text, info) => store.putText(text, info),
    openWriter: (info) => store.openWriter(info),
    list: () => store.list(),
    delete: async (id) => store.delete(id, await findScope(id)),
    update: async (id, patch) => store.update(id, patch, await findScope(id)),
    stat: async (id) => store.stat(id, await findScope(id)),
    get: async (id) => store.get(id, await findScope(id)),
    exists: async (id) => (await findScope(id)) !== undefined,
    evict: (seen) => store.evict(seen),
    openReader: async (id, options) => {
      const scope = await findScope(id);
      return scope === undefined ? null : store.openReader(id, { ...options, scope });
    },
  };
}

async function indexById(store: ArtifactStore): Promise<Map<string, ArtifactRef[]>> {
  const index = new Map<string, ArtifactRef[]>();
  for await (const ref of store.list()) index.set(ref.id, [...(index.get(ref.id) ?? []), ref]);
  return index;
}
