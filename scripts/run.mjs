/**
 * Child processes: output shown as it comes, a time limit, and what was printed handed back.
 * @module
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** How many things to do at a time. */
export const cores = availableParallelism();

/** A tool that npm installed. */
export const tool = (name) => join(root, "node_modules", ".bin", name);

/** Characters of output kept for a message when a quiet command fails. */
const KEPT = 20_000;

const PIPES = ["ignore", "pipe", "pipe"];

/**
 * Runs a command in the checkout.
 * @param {string} command
 * @param {string[]} args
 * @param {{ show?: "all" | "failure" | "none" | "own", env?: Record<string, string>, seconds?: number }} [options]
 *   `show`: output as it comes (the default); only when the command fails; not at all; or the command gets
 *   the terminal as its own. `seconds`: the time limit; none for a command with its own terminal.
 * @returns {Promise<{ code: number, output: string }>} `code` is 127 when it could not be started, 124
 *   when it was stopped at its limit, 128 when a signal ended it; `output` is its tail.
 */
export function run(command, args, { show = "all", env = {}, seconds = 1200 } = {}) {
  return new Promise((resolve) => {
    const own = show === "own";
    const child = spawn(command, args, { cwd: root, env: childEnv(env, own), stdio: own ? "inherit" : PIPES });
    let output = "";
    let late = false;
    const take = (stream) => (chunk) => {
      if (show === "all") stream.write(chunk);
      output = (output + chunk).slice(-KEPT);
    };
    child.stdout?.setEncoding("utf8").on("data", take(process.stdout));
    child.stderr?.setEncoding("utf8").on("data", take(process.stderr));
    const stop = () => {
      late = true;
      output += `\nstopped: ${command} took longer than ${seconds} s\n`;
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), 5000).unref();
    };
    const limit = own ? undefined : setTimeout(stop, seconds * 1000);
    const end = (code) => {
      clearTimeout(limit);
      if (show === "failure" && code !== 0) process.stdout.write(output);
      resolve({ code, output });
    };
    child.once("error", (error) => {
      output += `${command}: ${error.message}\n`;
      end(127);
    });
    child.once("close", (code) => end(late ? 124 : (code ?? 128)));
  });
}

/** Runs a command that has to succeed. */
export async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed with exit code ${code}`);
  return output;
}

// The node that runs this script comes first, whatever else the machine calls `node`. Some tools would
// colour what they write into a pipe when CI is set.
function childEnv(extra, own) {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path, ...(own ? {} : { NO_COLOR: "1" }), ...extra };
}
