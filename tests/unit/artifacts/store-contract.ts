/** What every artifact store must do, run against each. */
import { afterEach, beforeEach, describe } from "vitest";
import type { Hashing } from "../../../web/src/artifacts/hash.js";
import type { ArtifactStore, Clock } from "../../../web/src/artifacts/store.js";
import { contractOfEvicting } from "./contract/evictions.js";
import { contractOfHostile, contractOfMistyped } from "./contract/inputs.js";
import { contractOfNaming } from "./contract/names.js";
import { contractOfPutting } from "./contract/puts.js";
import { contractOfReading, contractOfWriting } from "./contract/streams.js";
import { contractOfIds, contractOfScoping } from "./contract/scopes.js";

/** A store under test. */
export interface Subject {
  readonly store: ArtifactStore;
  /** How many different contents it keeps, however many refs name them. */
  contents(): Promise<number>;
  dispose(): Promise<void>;
}

/** Makes an empty store. */
export type OpenSubject = (options?: { readonly hashing?: Hashing; readonly clock?: Clock }) => Promise<Subject>;

/** The whole contract, for a store called `title`; without what ids are made of, where its ids are those of another store. */
export function describeStore(
  title: string,
  opening: OpenSubject,
  naming: "by content" | "its own" = "by content",
): void {
  describe.each([title])("%s", () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await opening();
    });
    afterEach(() => subject.dispose());

    const current = (): Subject => subject;
    contractOfPutting(current);
    contractOfNaming(current);
    contractOfScoping(current);
    if (naming === "by content") contractOfIds(opening);
    contractOfReading(current);
    contractOfWriting(current);
    contractOfEvicting(opening);
    contractOfHostile(current);
    contractOfMistyped(current);
  });
}
