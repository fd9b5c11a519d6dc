/**
 * Whether what an answer is about to refer to is still there: in a store with limits, the last artifacts of a result
 * may take the room of its first.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { warningOf } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import { isTruncated } from "./segment-writer.js";
import type { AnswerRef } from "./sluice.js";
import type { StoreAccess } from "./store-access.js";

/** The ref itself, or one that says that nothing is kept. Throws only where failures are to be thrown. */
export function stillKept(access: StoreAccess, ref: AnswerRef): Promise<AnswerRef> {
  const look = (): Promise<AnswerRef> =>
    access.call("read", async (store) => {
      if (await isGone(store, ref)) throw crowdedOut();
      return ref;
    });
  if (isTruncated(ref)) return Promise.resolve(ref);
  return access.attempt<AnswerRef>(look, (failure) => access.standIn.instead(ref, warningOf(failure)));
}

/** Whether a failure says that retention took an artifact away. */
export function isExpiry(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_EXPIRED";
}

/** That a store cannot be looked into now does not say that something is gone. */
async function isGone(store: ArtifactStore, { id, scope }: AnswerRef): Promise<boolean> {
  try {
    return (await store.stat(id, scope)) === null;
  } catch (error) {
    return isExpiry(error);
  }
}

function crowdedOut(): SluiceError {
  return new SluiceError(
    "E_STORE_FULL",
    "The store did not keep this artifact until the result was complete, where the last may take the room of the first: " +
      "raise the limits of retention, or ask the tool for less.",
  );
}
