import { afterAll, beforeAll, describe } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import type { ArtifactStore, Clock } from "../../../../web/src/artifacts/store.js";
import { TieredArtifactStore } from "../../../../web/src/artifacts/tiered-store.js";
import { dated } from "../bytes.js";
import { describeStore, type OpenSubject } from "../store-contract.js";
import { TestS3 } from "./ceph.js";

let s3: TestS3;
beforeAll(async () => {
  s3 = await TestS3.started();
});
afterAll(() => s3[Symbol.asyncDispose]());

type Wrap = (store: S3ArtifactStore, clock: Clock | undefined) => ArtifactStore;

const opener =
  (wrap: Wrap = (store) => store): OpenSubject =>
  async (options = {}) => {
    const prefix = s3.prefix();
    const store = s3.store({ prefix, partBytes: 5 * 1024 * 1024, ...options });
    return {
      store: wrap(store, options.clock),
      contents: async () => {
        // Each artifact has its own blob: those that are named count once for each content, others each.
        const blobs = new Set((await s3.keys(prefix)).filter((key) => key.includes("/blobs/")));
        const refs = await dated(store.list());
        return new Set(refs.map(({ sha256 }) => sha256)).size + blobs.size - refs.length + (await s3.uploads(prefix));
      },
      dispose: () => store.close(),
    };
  };

/** Two stores that are asked one after the other are dated by one clock, which never stands still. */
const precise = (): number => performance.timeOrigin + performance.now();

describeStore("S3ArtifactStore", opener());
// What wraps a store is tried over the others in each run.
describe("wrapped", () => {
  describeStore(
    "RetainingArtifactStore over S3ArtifactStore",
    opener((store, clock) => new RetainingArtifactStore(store, {}, clock === undefined ? {} : { clock })),
  );
  describeStore("TieredArtifactStore of memory and S3ArtifactStore", async (options = {}) => {
    const far = await opener()({ clock: precise, ...options });
    const near = new BareMemoryStore({ clock: precise, ...options });
    return {
      ...far,
      store: new TieredArtifactStore({ near, far: far.store, limitBytes: 4096 }),
      contents: async () =>
        new Set((await dated(near.list())).map(({ sha256 }) => sha256)).size + (await far.contents()),
    };
  });
});
