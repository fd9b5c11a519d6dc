/**
 * One segment on its way into the store, or past it when the store refuses.
 * @module
 */
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactWriter } from "../artifacts/store.js";
import { warningOf, type Passed, type Unstored } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import type { AnswerRef } from "./sluice.js";
import type { StoreAccess } from "./store-access.js";

/** Bytes up to which a segment is kept at hand, so that it has a hash when the store refuses it late. */
const KEPT = 65_536;

/** Never throws because of the store, unless failures are to be thrown. */
export class SegmentWriter {
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  #writer: ArtifactWriter | undefined;
  #unstored: Unstored | undefined;
  #kept: Uint8Array[] | undefined = [];
  #size = 0;

  private constructor(access: StoreAccess, info: ArtifactInfo) {
    this.#access = access;
    this.#info = info;
  }

  static async open(access: StoreAccess, info: ArtifactInfo): Promise<SegmentWriter> {
    const segment = new SegmentWriter(access, info);
    await segment.#trying(async () => {
      segment.#writer = await access.openWriter(info);
    });
    return segment;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#trying(async () => {
      const writer = this.#writer;
      if (writer !== undefined) await this.#access.call("write", () => writer.write(bytes));
    });
    this.#unstored?.write(bytes);
    this.#size += bytes.length;
    if (this.#size > KEPT) this.#kept = undefined;
    else if (this.#unstored === undefined) this.#kept?.push(bytes.slice());
  }

  async close(patch: ArtifactPatch = {}): Promise<AnswerRef> {
    let ref: ArtifactRef | undefined;
    await this.#trying(async () => {
      const writer = this.#writer;
      if (writer !== undefined) ref = await this.#access.call("write", async () => checked(await writer.close(patch)));
    });
    this.#writer = undefined;
    if (ref !== undefined) return ref;
    return (this.#unstored as Unstored).ref(patch);
  }

  /** Throws away what was written. */
  async abort(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer !== undefined) await this.#access.clear(() => writer.abort());
  }

  #trying(work: () => Promise<void>): Promise<void> {
    return this.#access.attempt(work, async (failure) => {
      await this.abort();
      const passed: Passed = { size_bytes: this.#size, ...(this.#kept !== undefined && { bytes: this.#kept }) };
      this.#unstored = await this.#access.standIn.open(this.#info, warningOf(failure), passed);
      this.#kept = undefined;
    });
  }
}

/** Whether a ref says that nothing was stored. */
export function isTruncated({ source }: AnswerRef): boolean {
  return source["truncated"] === true;
}

/** A store may be anybody's: what is no ref would break the answer later on. */
export function checked(ref: ArtifactRef | null): ArtifactRef {
  const { id, source } = (ref ?? {}) as Readonly<Record<keyof ArtifactRef, unknown>>;
  if (typeof id === "string" && id !== "" && typeof source === "object" && source !== null) return ref as ArtifactRef;
  throw new SluiceError("E_STORE_WRITE", "The store took the content but gave no ref: repair the store.");
}
