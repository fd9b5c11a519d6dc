/**
 * Coverage of the processes that tests start: they run dist/, and what counts are lines of the sources.
 *
 * Node writes a profile of each where NODE_V8_COVERAGE says. The published files have no source maps, so they are
 * compiled once more with them: the same code, and one comment.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import v8 from "@bcoe/v8-coverage";
import { convert } from "ast-v8-to-istanbul";
import { parseAstAsync } from "vite";
import { must, root, tool } from "../run.mjs";

const PUBLISHED = join(root, "dist");
const MAPPED = join(root, "build/coverage-maps");

/** Compiles the sources with maps. */
export async function emitMaps() {
  const options = ["--outDir", MAPPED, "--sourceMap", "--inlineSources", "--incremental", "false"];
  await must(process.execPath, [tool("tsc"), "-p", "tsconfig.build.json", ...options]);
}

/**
 * Reads the profiles in a folder.
 * @param {string} folder
 * @returns {Promise<{ data: import("istanbul-lib-coverage").CoverageMapData, processes: number }>} `data` by source
 *   file; `processes` is the number of those that ran something of dist/
 * @throws {Error} when dist/ is not what the maps were made of
 */
export async function coverProcesses(folder) {
  const profiles = readdirSync(folder)
    .map((name) => publishedOnly(readProfile(join(folder, name))))
    .filter(({ result }) => result.length > 0);
  const data = {};
  for (const script of v8.mergeProcessCovs(profiles).result) Object.assign(data, await inSources(script));
  return { data, processes: profiles.length };
}

// A process that is killed while it writes leaves half a profile.
function readProfile(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { result: [] };
  }
}

function publishedOnly({ result }) {
  const folder = `${pathToFileURL(PUBLISHED).href}/`;
  return { result: result.filter(({ url }) => url.startsWith(folder) && url.endsWith(".js")) };
}

async function inSources(script) {
  const file = fileURLToPath(script.url);
  const mapped = join(MAPPED, relative(PUBLISHED, file));
  const code = readFileSync(file, "utf8");
  if (!readFileSync(mapped, "utf8").startsWith(code)) {
    throw new Error(`${relative(root, file)} is not what its source compiles to: run this again, and change nothing`);
  }
  const sourceMap = JSON.parse(readFileSync(`${mapped}.map`, "utf8"));
  // Sources are named from the folder of the map, which is not the folder of the script.
  sourceMap.sources = sourceMap.sources.map((source) => join(mapped, "..", source));
  return convert({ code, sourceMap, ast: parseAstAsync(code), coverage: script, wrapperLength: 0 });
}
