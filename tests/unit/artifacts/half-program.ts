/**
 * Writes most of an artifact, prints `half`, and waits. At SIGUSR2 it writes the rest and prints the artifact's id, or what went wrong.
 *
 * node half-program FOLDER SEED BYTES
 */
import { once } from "node:events";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { noise } from "./noise.js";

const [folder = "", seed = "1", bytes = "0"] = process.argv.slice(2);
const data = noise(Number(bytes), Number(seed));
const told = once(process, "SIGUSR2");
const waiting = setInterval(() => undefined, 1000);
const writer = await new FileArtifactStore(folder).openWriter();
await writer.write(data.subarray(0, -1));
process.stdout.write("half\n");
await told;
try {
  await writer.write(data.subarray(-1));
  process.stdout.write(`${(await writer.close()).id}\n`);
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
}
clearInterval(waiting);
