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

/** Methods, but for those that a base class names: `async #readPage(at: number): Promise<Page> {`. */
const METHODS = /^ {2}(?:(?:static|async|protected) )*\*?(#?[a-z]\w*)(?:<[^>\n]*>)?\(.*\)(?:: .+)? \{$/gm;

/** Words that give away a sentence that nobody says. */
const WORDS =
  /\b(?:[Ww]hoever|anew|[Nn]obody|[Ss]omebody|of ours|[Ww]hat is no|is said to be|that there is not|whatever for)\b/g;

function isHabit(name) {
  const word = name.replace("#", "");
  return /[a-z]Of$/.test(word) || (PARTICIPLE.test(word) && !VERBS.test(word));
}

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

/** How often each name or word stands in the files, and where. */
function collect(paths, find) {
  const found = new Map();
  for (const path of paths) {
    for (const each of find(read(path))) found.set(each, [...(found.get(each) ?? []), path]);
  }
  return found;
}

/** Names in a text that do not begin with a verb, each once. */
function findHabits(text, pattern) {
  const all = [...text.matchAll(pattern)].map(([, declared, constant]) => declared ?? constant);
  return [...new Set(all)].filter(isHabit);
}

/** What there is now, by habit. */
function collectAll() {
  return {
    names: collect(listFiles("web/*.ts"), (text) => findHabits(text, FUNCTIONS)),
    methods: collect(listFiles("web/*.ts"), (text) => findHabits(text, METHODS)),
    words: collect(listFiles("*.md", "web/*.ts"), (text) =>
      [...text.matchAll(WORDS)].map(([word]) => word.toLowerCase()),
    ),
  };
}

/** A line for each, with how often there is one: `names textOf 16`. What moves to another file is the same. */
function writeKnown(now) {
  const lines = Object.entries(now).flatMap(([habit, found]) =>
    [...found]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([each, places]) => `${habit} ${each} ${places.length}\n`),
  );
  writeFileSync(KNOWN, lines.join(""));
}

/** How often there may be one: `names textOf` → 16. */
function readKnown() {
  const lines = readFileSync(KNOWN, "utf8").split("\n");
  return new Map(lines.filter(Boolean).map((line) => [line.replace(/ \d+$/, ""), Number(/\d+$/.exec(line))]));
}

/** Most files that are named for one of them. */
const MAX_PLACES = 8;

const RULES = {
  names: "a function is a verb with its object, such as readPointer",
  methods: "a method is a verb with its object",
  words: "a sentence is one that people say aloud",
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [now, known] = [collectAll(), readKnown()];
  let [isNew, isGone] = [false, false];
  for (const [habit, found] of Object.entries(now)) {
    for (const [each, places] of found) {
      const most = known.get(`${habit} ${each}`) ?? 0;
      if (places.length <= most) continue;
      isNew = true;
      console.log(
        `${RULES[habit]}: ${each} stands ${places.length} times, ${most} before, in ${[...new Set(places)].slice(0, MAX_PLACES).join(", ")}`,
      );
    }
  }
  for (const [key, most] of known) {
    const [habit, each] = [key.split(" ", 1)[0], key.slice(key.indexOf(" ") + 1)];
    if ((now[habit].get(each) ?? []).length < most) isGone = true;
  }
  const isWritten = process.argv.includes("--write") && !isNew;
  if (isWritten) writeKnown(now);
  else if (isGone) console.log("some of scripts/known-names.txt are gone: node scripts/names.mjs --write");
  process.exitCode = isNew || (isGone && !isWritten) ? 1 : 0;
}
