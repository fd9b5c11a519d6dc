/**
 * Stores, renames and deletes for ever, until it is killed. Prints the id of each artifact that was stored
 * in the scope `kept`, where nothing is deleted.
 *
 * node churn-program FOLDER SEED
 */
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { noise } from "./noise.js";

const [folder = "", seed = "1"] = process.argv.slice(2);
const store = new FileArtifactStore(folder);
const random = noise(1 << 16, Number(seed));
const SIZES = [0, 10, 5000, 65_537, 1_200_000, 3_000_000];

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
