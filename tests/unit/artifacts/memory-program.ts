/**
 * Stores through a writer, and prints the hash and by how many bytes the process grew at most.
 *
 * node memory-program FOLDER BYTES
 */
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";

const [folder = "", bytes = "0"] = process.argv.slice(2);
const store = new FileArtifactStore(folder);
const chunk = new Uint8Array(48 * 1024).fill(7);

async function stored(size: number): Promise<{ sha256: string; peak: number }> {
  const writer = await store.openWriter();
  let peak = 0;
  for (let at = 0, turn = 0; at < size; at += chunk.byteLength, turn++) {
    chunk.fill(turn);
    await writer.write(chunk.subarray(0, Math.min(chunk.byteLength, size - at)));
    if (turn % 64 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  const { sha256 } = await writer.close();
  return { sha256, peak: Math.max(peak, process.memoryUsage.rss()) };
}

await stored(200_000); // what the first use loads and compiles is not what is asked
const before = process.memoryUsage.rss();
const { sha256, peak } = await stored(Number(bytes));
process.stdout.write(JSON.stringify({ sha256, growth: peak - before }));
