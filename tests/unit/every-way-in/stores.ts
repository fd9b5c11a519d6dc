/**
 * The stores that results meet: good ones, none, and those that fail.
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { STORE_SILENCE } from "../../../web/src/core/store-access.js";
import type { ArtifactScope, ArtifactStore, RetentionConfig } from "../../../web/src/index.js";
import { FileArtifactStore, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/node.js";
import { faulty, type Call } from "../core/faulty-store.js";
import type { Random } from "./random.js";

export const STORES = ["good", "disk", "none", "write fails", "read fails", "too small", "slow", "hangs"] as const;
export type StoreKind = (typeof STORES)[number];

/** Whether all that is taken out of a result must be found again. */
export function keepsAll(kind: StoreKind): boolean {
  return kind === "good" || kind === "disk" || kind === "slow";
}

/** Whether a store refuses what it is given: `on_store_failure: "error"` ends calls then. */
export function refuses(kind: StoreKind): boolean {
  return kind === "write fails" || kind === "too small" || kind === "hangs";
}

/** The store of one case. */
export interface CaseStore extends AsyncDisposable {
  readonly kind: StoreKind;
  /** What is given to the library. */
  readonly store: ArtifactStore;
  /** What it is about beside its kind. */
  readonly about: string;
  /** What is stored, when the case is over: nothing fails any more. */
  readonly read: (id: string, scope?: ArtifactScope) => Promise<Uint8Array | null>;
  /** The store behind the faults. */
  readonly inner: ArtifactStore;
}

/** One that makes room for what comes by what came before. */
const EVICTING: RetentionConfig = { max_total_bytes: 20_000 };

/** Limits that results of the suite do not keep to. */
const LIMITS: readonly RetentionConfig[] = [
  { max_artifact_bytes: 600 },
  { max_total_bytes: 4000, cleanup_strategy: "none" },
  EVICTING,
];

const WRITING: ReadonlySet<Call> = new Set(["putBytes", "putText", "openWriter", "write", "close", "update"]);
const READING: ReadonlySet<Call> = new Set(["get", "exists", "stat", "list", "openReader", "read"]);

/** Makes a store of a kind, for so many calls at the same time. */
export async function storeOf(
  kind: StoreKind,
  { random, folder, most }: { readonly random: Random; readonly folder: string; readonly most: number },
): Promise<CaseStore> {
  const unlimited = { retention: null };
  const of = (store: ArtifactStore, inner: ArtifactStore = store, about = ""): CaseStore => ({
    kind,
    store,
    inner,
    about,
    read: (id, scope) => inner.get(id, scope).catch(() => null),
    [Symbol.asyncDispose]: async () => undefined,
  });
  const failing = (calls: ReadonlySet<Call>): CaseStore => {
    const inner = new MemoryArtifactStore(unlimited);
    // The first calls may go well.
    const from = random.pick([1, 1, 2, 3]);
    let seen = 0;
    const fault = (call: Call): void => {
      if (!calls.has(call)) return;
      seen += 1;
      if (seen >= from) throw Object.assign(new Error("EIO: the test says so"), { code: "EIO" });
    };
    return of(faulty(inner, fault).store, inner, `from call ${from}`);
  };
  switch (kind) {
    case "good":
      return of(new MemoryArtifactStore(unlimited));
    case "disk": {
      const at = await mkdtemp(join(folder, "store-"));
      const store = new FileArtifactStore(at);
      return { ...of(store), [Symbol.asyncDispose]: () => rm(at, { recursive: true, force: true }) };
    }
    case "none":
      return of(new NoOpArtifactStore({ warn: () => undefined }));
    case "write fails":
      return failing(WRITING);
    case "read fails":
      return failing(READING);
    case "too small": {
      // What one call stores may leave for another's, and by right once that is answered.
      const retention = random.pick(most > 1 ? LIMITS.filter((limits) => limits !== EVICTING) : LIMITS);
      return of(new MemoryArtifactStore({ retention }), undefined, JSON.stringify(retention));
    }
    case "hangs": {
      const inner = new MemoryArtifactStore(unlimited);
      const call = random.pick([
        "openWriter",
        "write",
        "close",
        "update",
        "stat",
        "exists",
        "get",
        "openReader",
        "read",
        "list",
      ] as const);
      const patient = { ...STORE_SILENCE };
      Object.assign(STORE_SILENCE, { bytes: 300, look: 100 });
      const { store } = faulty(inner, (each) => (each === call ? new Promise(() => undefined) : undefined));
      const restore = async (): Promise<void> => void Object.assign(STORE_SILENCE, patient);
      return { ...of(store, inner, `at ${call}`), [Symbol.asyncDispose]: restore };
    }
    default: {
      const inner = new MemoryArtifactStore(unlimited);
      return of(faulty(inner, () => sleep(3)).store, inner);
    }
  }
}

/** A store that is another one in each case, for what lives longer than a case. */
export class CurrentStore {
  #current: ArtifactStore | undefined;
  readonly store: ArtifactStore = new Proxy({} as ArtifactStore, {
    get: (_, name) => {
      const store = this.#current ?? NOTHING;
      const value: unknown = Reflect.get(store, name, store);
      return typeof value === "function" ? value.bind(store) : value;
    },
    has: (_, name) => Reflect.has(this.#current ?? NOTHING, name),
  });

  set(store: ArtifactStore | undefined): void {
    this.#current = store;
  }
}

const NOTHING = new MemoryArtifactStore();

/** What the disk of a command does at the moment, see `faults.mjs`. */
export class DiskFaults {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.set("good");
  }

  set(kind: StoreKind): void {
    const said = kind === "write fails" ? "write" : kind === "read fails" ? "read" : kind === "slow" ? "slow" : "";
    if (readFileOr(this.#file) !== said) writeFileSync(this.#file, said);
  }
}

function readFileOr(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
