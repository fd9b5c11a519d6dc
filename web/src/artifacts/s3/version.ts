/**
 * The version of a store in a bucket: an object beside all others, which is looked at once and written once.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { checkLayout, layoutText, MAX_MARKER, STORE_MARKER } from "../../errors/layout.js";
import type { StorageAct } from "../../errors/storage.js";
import type { Bucket } from "./bucket.js";

const KIND = "artifact store";
const OTHER = "another prefix or bucket";
const FOREIGN = `The object ${STORE_MARKER} does not belong to a store: use ${OTHER}.`;

/** Checks the version before anything else is read or written, and writes it before the first artifact. */
export class BucketVersion {
  readonly #bucket: Bucket;
  readonly #done: Partial<Record<StorageAct, Promise<void>>> = {};
  #isMarked = false;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Throws SluiceError E_STORE_READ for a newer store, E_STORE_CORRUPT for a foreign object, and what the bucket throws. */
  async check(act: StorageAct): Promise<void> {
    const done = (this.#done[act] ??= act === "read" ? this.#read() : this.#write());
    try {
      await done;
    } catch (error) {
      if (this.#done[act] === done) delete this.#done[act];
      throw error;
    }
  }

  async #read(): Promise<void> {
    const found = await unlessDenied(this.#bucket.read(STORE_MARKER, MAX_MARKER));
    if (found === null) return;
    checkLayout(new TextDecoder().decode(found.bytes), KIND, FOREIGN, OTHER);
    this.#isMarked = true;
  }

  /** Of many that begin at once one writes it, and the others read it. */
  async #write(): Promise<void> {
    if (this.#isMarked) return;
    const text = new TextEncoder().encode(`${layoutText(KIND)}\n`);
    const wrote = await unlessDenied(this.#bucket.writeIf(STORE_MARKER, text, { none: true }));
    if (wrote === null) await this.#read();
  }
}

/** Null where a policy lets this process at some scopes only, and so not at this object. */
async function unlessDenied<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_STORE_DENIED") return null;
    throw error;
  }
}
