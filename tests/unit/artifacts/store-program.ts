/**
 * What processes do with a store in a folder while others do the same, or until they are killed.
 *
 * node store-program WORK FOLDER WORDS…
 */
import { once } from "node:events";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { noise } from "./bytes.js";

const NOBODY = 65_534;
/** What was claimed less than so many milliseconds ago is safe. */
const SAFE = 200;
const SIZES = [0, 10, 5000, 65_537, 1_200_000, 3_000_000];

const [work = "", folder = "", ...words] = process.argv.slice(2);
const store = new FileArtifactStore(folder);

const WORKS: Readonly<Record<string, (...words: string[]) => Promise<void>>> = {
  /** Stores as a user who may not, and prints the code of the error. Root becomes `nobody`, whom file modes bind. */
  async denied() {
    if (process.getuid?.() === 0) {
      process.setgid?.(NOBODY);
      process.setuid?.(NOBODY);
    }
    try {
      await store.putText("x");
      process.stdout.write("stored");
    } catch (error) {
      process.stdout.write(error instanceof SluiceError ? error.code : String(error));
    }
  },

  /** Writes most of an artifact and prints `half`. When it is told to, it writes the rest and prints the id, or what went wrong. */
  async half(seed, bytes) {
    const data = noise(Number(bytes), Number(seed));
    const told = toldTo();
    const writer = await store.openWriter();
    await writer.write(data.subarray(0, -1));
    process.stdout.write("half\n");
    await told;
    try {
      await writer.write(data.subarray(-1));
      process.stdout.write(`${(await writer.close()).id}\n`);
    } catch (error) {
      process.stdout.write(`${String(error)}\n`);
    }
  },

  /** Puts one version of a file when it is told to, so that several begin at once. Prints the name that it got. */
  async put(name = "", text = "") {
    const told = toldTo();
    process.stdout.write("ready\n");
    await told;
    process.stdout.write((await new UserStorage(store, { user_id: "ada" }).put(name, text)).name);
  },

  /** Stores, renames and deletes. Prints the id of each artifact in the scope `kept`, where nothing is deleted. */
  async churn(seed) {
    const random = noise(1 << 16, Number(seed));
    for (let turn = 0; ; turn++) {
      const dice = (faces: number): number => (random[turn++ % random.length] ?? 0) % faces;
      const data = noise((SIZES[dice(SIZES.length)] ?? 0) + dice(4), 7);
      const session_id = ["kept", "one", "two"][dice(3)] ?? "one";
      const writer = await store.openWriter({ scope: { session_id }, filename: `file ${turn}` });
      for (let at = 0; at < data.byteLength; at += 200_000) await writer.write(data.subarray(at, at + 200_000));
      const { id } = await writer.close();
      if (session_id === "kept") process.stdout.write(`${id}\n`);
      else if (dice(2) === 0) await store.delete(id, { session_id });
      if (dice(3) === 0) await store.update(id, { filename: `renamed ${turn}` }, { session_id });
    }
  },

  /**
   * Stores the same few contents over and over, in a store that others are emptying all the time. Prints a line for each artifact,
   * `kept` when it could be read back at once, else `lost` and why; and for each collection `took` and how many.
   */
  async claim(seed) {
    const retention = { ttl_seconds: null, max_total_bytes: 1, max_artifact_bytes: null, min_age_seconds: 1 };
    const collector = new RetainingArtifactStore(store, retention, { clock: () => Date.now() + 1000 - SAFE });
    const random = noise(1 << 16, Number(seed));
    for (let turn = 0; ; turn++) {
      const content = (random[turn % random.length] ?? 0) % 40;
      const data = noise(100 + content * 4_000, content);
      // Before it is stored: on a busy machine it may be old by the time that storing ends.
      const begun = Date.now();
      const ref = await store.putBytes(data, { scope: { session_id: "shared" } });
      const isSafe = (): boolean => Date.now() - begun < SAFE / 2;
      let read = await readBack(ref);
      // A collector looks at what it has taken out of reach, and puts back what was claimed: nobody finds it in between.
      while (read === null && isSafe()) read = await readBack(ref);
      if (read instanceof Uint8Array && read.byteLength === data.byteLength) process.stdout.write("kept\n");
      else if (isSafe()) process.stdout.write(`lost ${String(read)}\n`);
      if (turn % 3 === 0) process.stdout.write(`took ${(await collector.collect())?.artifacts ?? 0}\n`);
    }
  },
};

/** Settles at SIGUSR2; the process lives until then. */
async function toldTo(): Promise<void> {
  const waiting = setInterval(() => undefined, 1000);
  await once(process, "SIGUSR2");
  clearInterval(waiting);
}

function readBack({ id, scope }: ArtifactRef): Promise<Uint8Array | string | null> {
  return store.get(id, scope).catch((error: unknown) => String(error));
}

await WORKS[work]?.(...words);
