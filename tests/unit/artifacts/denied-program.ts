/**
 * Tries to store something as a user who may not, and prints the code of the error. Whoever starts it as root
 * gets `nobody`, whom file modes bind.
 *
 * node denied-program FOLDER
 */
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { SluiceError } from "../../../web/src/errors/error.js";

const NOBODY = 65_534;

const [folder = ""] = process.argv.slice(2);
const store = new FileArtifactStore(folder);
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
