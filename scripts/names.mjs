/**
 * New functions are verbs with their object, and new sentences are ones that people say. What was called or written otherwise before is
 * listed in `scripts/known-names.txt`, and the list only shrinks: `node scripts/names.mjs --write` takes away what is gone.
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./run.mjs";

const KNOWN = join(root, "scripts/known-names.txt");

/** Past participles that do not end in -ed, as names of functions here begin with them. */
const IRREGULAR =
  "begun|bound|broken|brought|built|chosen|cut|done|drawn|driven|fallen|found|given|gone|grown|heard|held|hidden|kept|known|laid|left|lost|made|met|paid|put|said|seen|sent|set|shown|spent|split|spoken|sworn|taken|thrown|told|understood|won|worn|written";

/** Verbs that only look like participles. */
const VERBS = /^(?:embed|exceed|feed|need|proceed|put|seed|set|split|cut|speed)(?=[A-Z]|$)/;

const PARTICIPLE = new RegExp(`^(?:[a-z]+ed|${IRREGULAR})(?=[A-Z]|$)`);

/** Functions and constants that are functions: `function shownName(`, `const textOf = (`. */
const FUNCTIONS =
  /\bfunction\*? +([a-z]\w*)|\bconst ([a-z]\w*)(?::[^=\n]*)? = (?:async )?(?:\([^()\n]*\)(?::[^=\n]+)? =>|[a-z]\w* =>)/g;

/** Words that give away a sentence that nobody says. */
const WORDS =
  /\b(?:[Ww]hoever|anew|[Nn]obody|[Ss]omebody|of ours|[Ww]hat is no|is said to be|that there is not|whatever for)\b/g;

const isHabit = (name) => /[a-z]Of$/.test(name) || (PARTICIPLE.test(name) && !VERBS.test(name));

function listFiles(...patterns) {
  const listed = execFileSync("git", ["ls-files", "-z", "-c", "-o", "--exclude-standard", "--", ...patterns], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  return [...new Set(listed.split("\0"))].filter((path) => path !== "").toSorted();
}

function read(path) {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    // Deleted, and not yet said so to git.
    return "";
  }
}

/** What each file has of a habit, sorted; files without are left out. */
function collect(paths, find) {
  const found = paths.map((path) => [path, find(read(path)).toSorted()]);
  return Object.fromEntries(found.filter(([, all]) => all.length > 0));
}

/** What there is now. */
function collectAll() {
  const names = collect(listFiles("web/*.ts"), (text) => {
    const all = [...text.matchAll(FUNCTIONS)].map(([, declared, constant]) => declared ?? constant);
    return [...new Set(all)].filter(isHabit);
  });
  const words = collect(listFiles("*.md", "web/*.ts"), (text) =>
    [...text.matchAll(WORDS)].map(([word]) => word.toLowerCase()),
  );
  return { names, words };
}

const HABITS = ["names", "words"];

/** A line for each file that has a habit: `names web/ui/a.ts: textOf, shown`. */
function writeKnown(known) {
  const lines = HABITS.flatMap((habit) =>
    Object.entries(known[habit]).map(([path, all]) => `${habit} ${path}: ${all.join(", ")}\n`),
  );
  writeFileSync(KNOWN, lines.join(""));
}

function readKnown() {
  const known = Object.fromEntries(HABITS.map((habit) => [habit, {}]));
  for (const line of readFileSync(KNOWN, "utf8").split("\n")) {
    const [, habit, path, all] = /^(\w+) (.+?): (.+)$/.exec(line) ?? [];
    if (habit !== undefined) known[habit][path] = all.split(", ");
  }
  return known;
}

/** What `now` has more than `before`, one for one. */
function subtract(now, before = []) {
  const left = [...before];
  return now.filter((each) => {
    const at = left.indexOf(each);
    if (at === -1) return true;
    left.splice(at, 1);
    return false;
  });
}

function compare(now, before) {
  return Object.entries(now).flatMap(([path, all]) => subtract(all, before[path]).map((each) => `${path}: ${each}`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const now = collectAll();
  const known = readKnown();
  const added = {
    "a function is a verb with its object, such as readPointer": compare(now.names, known.names),
    "a sentence is one that people say aloud": compare(now.words, known.words),
  };
  const gone = compare(known.names, now.names).length + compare(known.words, now.words).length;
  for (const [rule, places] of Object.entries(added)) {
    if (places.length > 0) console.log(`${rule}:\n  ${places.join("\n  ")}`);
  }
  const isNew = Object.values(added).some(({ length }) => length > 0);
  if (process.argv.includes("--write") && !isNew) writeKnown(now);
  else if (gone > 0) console.log(`${gone} of scripts/known-names.txt are gone: node scripts/names.mjs --write`);
  process.exitCode = isNew || (gone > 0 && !process.argv.includes("--write")) ? 1 : 0;
}
