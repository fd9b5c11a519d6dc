/** A store within users' limits is a store like any other, as long as there is room. */
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { NO_LIMITS } from "../../../../web/src/artifacts/retention/policy.js";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { memoryState } from "../../../../web/src/serve.js";
import { limitArtifacts, limitFiles } from "../../../../web/src/server/usage/bounded-store.js";
import { UserUsage } from "../../../../web/src/server/usage/user-usage.js";
import type { ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { listed } from "../../artifacts/bytes.js";
import { describeStore, type OpenSubject } from "../../artifacts/store-contract.js";

const MUCH = 1e12;

const opener =
  (bounded: (store: RetainingArtifactStore, usage: UserUsage) => ArtifactStore): OpenSubject =>
  async (options = {}) => {
    const inner = new BareMemoryStore(options);
    const limits = { artifactBytes: MUCH, fileBytes: MUCH, files: MUCH };
    const announcer = { tell: () => Promise.resolve() };
    const usage = new UserUsage({ state: memoryState(), limits, announcer, report: () => undefined });
    const { clock } = options;
    const retaining = new RetainingArtifactStore(inner, NO_LIMITS, clock === undefined ? {} : { clock });
    return {
      store: bounded(retaining, usage),
      contents: async () => new Set((await listed(inner.list())).map(({ sha256 }) => sha256)).size,
      dispose: () => usage[Symbol.asyncDispose](),
    };
  };

describeStore("sessions' artifacts within limits of users", opener(limitArtifacts));
describeStore(
  "users' files within limits of users",
  opener((store, usage) => limitFiles(store, usage, async ({ tenant_id = null, user_id }) => [{ tenant_id, user_id }])),
);
