/**
 * The fixture, with what its client says written to a file: `node recorder.mjs FILE`.
 * @module
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { fileURLToPath } from "node:url";

const fixture = fileURLToPath(new URL("../fixture/stdio.mjs", import.meta.url));
const server = spawn(process.execPath, [fixture], { stdio: ["pipe", "inherit", "inherit"] });
process.stdin.pipe(createWriteStream(process.argv[2] ?? "client.log"));
process.stdin.pipe(server.stdin);
server.on("exit", (code) => process.exit(code ?? 1));
