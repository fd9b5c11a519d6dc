/**
 * Puts one version of a file, once it is told to: so that several begin at once. Prints the name that it got.
 *
 * node put-program FOLDER NAME TEXT
 */
import { once } from "node:events";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";

const [folder = "", name = "", text = ""] = process.argv.slice(2);
const files = new UserStorage(new FileArtifactStore(folder), { user_id: "ada" });
const told = once(process, "SIGUSR2");
process.stdout.write("ready\n");
const waiting = setInterval(() => undefined, 1000);
await told;
clearInterval(waiting);
process.stdout.write((await files.put(name, text)).name);
