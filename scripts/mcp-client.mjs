/**
 * What is bundled of the MCP client, in the library and in the pages: all but its own sign-in, since ours is in `web/src/tools/auth`,
 * and the schemas that it only collects for others.
 * @module
 */

/** No transport is given a provider, so that none of these is called. */
const SIGN_IN = ["auth", "adaptOAuthProvider", "resolveAuthorizationCallbackParams"];

/** What is replaced, each once. The client itself looks at one of the schemas. */
const CHANGES = [
  ...SIGN_IN.map((name) => [
    new RegExp(`^((?:async )?function) ${name}\\(`, "m"),
    `function ${name}() {}\n$1 ${name}Unused(`,
  ]),
  [
    "for (const key of SPEC_SCHEMA_KEYS) register(key, schemas_exports[key]);",
    'register("ImplementationSchema", ImplementationSchema);',
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
      if (!/@modelcontextprotocol\/client\/dist\/[\w-]+\.mjs$/.test(id)) return null;
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
