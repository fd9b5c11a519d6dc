/**
 * Two lists as one.
 * @module
 */
import type { StoredArtifact } from "../store.js";

/** Both lists in their own order; of their next two the one stored earlier comes first, the near one when at once. */
export async function* merged(
  near: AsyncIterable<StoredArtifact>,
  far: AsyncIterable<StoredArtifact>,
): AsyncGenerator<StoredArtifact, void, void> {
  const lists = [near[Symbol.asyncIterator](), far[Symbol.asyncIterator]()] as const;
  try {
    let [left, right] = await Promise.all([lists[0].next(), lists[1].next()]);
    while (left.done !== true || right.done !== true) {
      if (right.done === true || (left.done !== true && left.value.stored_at <= right.value.stored_at)) {
        yield left.value as StoredArtifact;
        left = await lists[0].next();
      } else {
        yield right.value;
        right = await lists[1].next();
      }
    }
  } finally {
    await Promise.allSettled(lists.map(async (list) => list.return?.()));
  }
}
