/**
 * What is bundled of the MCP client, in the library and in the pages: all but its own sign-in, since ours is in `web/src/tools/auth`,
 * and the schemas that nobody asks for.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shortenId } from "./module-paths.mjs";
import { root } from "./run.mjs";

/** No transport is given a provider, so that none of these is called. */
const SIGN_IN = ["auth", "adaptOAuthProvider", "resolveAuthorizationCallbackParams"];

/** The schemas that are asked for by name: `specTypeSchemas.Result`. The client itself looks at that of an implementation. */
function schemasInUse() {
  const names = ["web/src", "web/playground"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => [...readFileSync(join(root, folder, name), "utf8").matchAll(/\bspecTypeSchemas\.(\w+)/g)])
      .map(([, name]) => `${name}Schema`),
  );
  return [...new Set(["ImplementationSchema", ...names])];
}

/** What is replaced, each once. */
const CHANGES = [
  ...SIGN_IN.map((name) => [
    new RegExp(`^((?:async )?function) ${name}\\(`, "m"),
    `function ${name}() {}\n$1 ${name}Unused(`,
  ]),
  [
    "for (const key of SPEC_SCHEMA_KEYS) register(key, schemas_exports[key]);",
    schemasInUse()
      .map((name) => `register("${name}", ${name});`)
      .join("\n"),
  ],
  ["for (const [key, schema] of Object.entries(authSchemas)) register(key, schema);", ""],
];

/**
 * Leaves them out of a build that has the client in it. Fails for a version of the client that is written in another way.
 * @returns {import("vite").Plugin}
 */
export function bundledClient() {
  /** Those that are still to be made; none before a module of the client is loaded. */
  let left = [];
  let isLoaded = false;
  return {
    name: "sluice-mcp-client",
    enforce: "pre",
    buildStart() {
      left = [...CHANGES];
      isLoaded = false;
    },
    transform(code, id) {
      if (!/@modelcontextprotocol\/client\/dist\/[\w-]+\.mjs$/.test(shortenId(id))) return null;
      isLoaded = true;
      let rest = code;
      left = left.filter(([what, replacement]) => {
        const before = rest;
        rest = rest.replace(what, replacement);
        return rest === before;
      });
      return { code: rest, map: null };
    },
    buildEnd() {
      if (isLoaded && left.length > 0)
        throw new Error(`The MCP client is written in another way: ${String(left[0][0])}`);
    },
  };
}
