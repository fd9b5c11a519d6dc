/**
 * A tool that swaps files for links as fast as it can, in the workspace that it is given, until its input ends.
 * @module
 */
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, outside] = process.argv.slice(2);
const at = (...names) => join(folder, ...names);

process.chdir(folder);
writeFileSync(at("plain"), "mine");
symlinkSync(join(outside, "secret"), at("link"));
mkdirSync(at("inner"));
writeFileSync(at("inner", "secret"), "mine");
symlinkSync(outside, at("way"));

const attempt = (work) => {
  try {
    work();
  } catch {
    // Whatever it is, it will do the next time.
  }
};

/** Each turn leaves things as they were. */
const turns = [
  // A file becomes a link.
  () => {
    renameSync(at("plain"), at("file"));
    renameSync(at("file"), at("plain"));
    renameSync(at("link"), at("file"));
    renameSync(at("file"), at("link"));
  },
  // A folder becomes a link.
  () => {
    renameSync(at("inner"), at("folder"));
    renameSync(at("folder"), at("inner"));
    renameSync(at("way"), at("folder"));
    renameSync(at("folder"), at("way"));
  },
  // The secret has a second name for a moment.
  () => {
    linkSync(join(outside, "secret"), at("hard"));
    unlinkSync(at("hard"));
  },
  // And one that looks as if it had been deleted.
  () => {
    linkSync(join(outside, "secret"), at("name (deleted)"));
    renameSync(at("name (deleted)"), at("name"));
    unlinkSync(at("name"));
  },
  // Something else altogether is there.
  () => {
    mkdirSync(at("mixed"));
    rmSync(at("mixed"), { recursive: true });
    writeFileSync(at("mixed"), "mine");
    unlinkSync(at("mixed"));
    symlinkSync(join(outside, "secret"), at("mixed"));
    unlinkSync(at("mixed"));
  },
];

process.stdin.on("end", () => process.exit()).resume();
process.stdout.write("ready\n");
(function turn() {
  for (let count = 0; count < 50; count += 1) for (const each of turns) attempt(each);
  setImmediate(turn);
})();
