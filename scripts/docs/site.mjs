/**
 * The site: README as its front, the pages, and the reference from the docstrings of all entries.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Application, OptionDefaults } from "typedoc";
import { SCHEMA } from "../build.mjs";
import { root } from "../run.mjs";
import { describeElements, ELEMENTS_MARKER, readElements } from "../elements.mjs";
import { configTable, MARKER } from "./config-table.mjs";
import { REST_MARKER, restReference } from "./rest-reference.mjs";

/** Where the site is built. */
export const SITE = join(root, "build/docs");

/** In the order of the site's navigation. */
export const PAGES = [
  "docs/concepts.md",
  "docs/command-line.md",
  "docs/proxy.md",
  "docs/artifacts.md",
  "docs/runtimes.md",
  "docs/hosts.md",
  "docs/clients.md",
  "docs/tools.md",
  "docs/auth.md",
  "docs/resources.md",
  "docs/presets.md",
  "docs/concurrency.md",
  "docs/planner.md",
  "docs/guardrail.md",
  "docs/state-store.md",
  "docs/user-files.md",
  "docs/writing-tools.md",
  "docs/serving.md",
  "docs/sign-in.md",
  "docs/rest.md",
  "docs/limits.md",
  "docs/scaling-out.md",
  "docs/deploying.md",
  "docs/drill.md",
  "docs/telemetry.md",
  "docs/elements.md",
  "docs/playground.md",
  "docs/configuration.md",
  "docs/stores.md",
  "docs/security.md",
  "docs/failures.md",
  "docs/benchmarks.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "docs/releasing.md",
  "SECURITY.md",
  "CHANGELOG.md",
];

/** TypeDoc's options. Types are checked elsewhere, by the compiler that builds. */
const OPTIONS = {
  name: "Sluice",
  entryPoints: [
    "web/src/index.ts",
    "web/src/mcp.ts",
    "web/src/node.ts",
    "web/src/browser.ts",
    "web/src/tools.ts",
    "web/src/tools-node.ts",
    "web/src/planner.ts",
    "web/src/planner-redis.ts",
    "web/src/s3.ts",
    "web/src/files.ts",
    "web/src/serve.ts",
    "web/src/serve-redis.ts",
    "web/ui/index.ts",
    "web/ui/react.ts",
    "web/ui/svelte.ts",
    "web/ui/vue.ts",
  ],
  tsconfig: "tsconfig.docs.json",
  skipErrorChecking: true,
  readme: "README.md",
  projectDocuments: PAGES,
  includeVersion: true,
  excludePrivate: true,
  excludeProtected: true,
  // What elements have of Lit is told there.
  excludeExternals: true,
  disableSources: true,
  disableGit: true,
  githubPages: false,
  // Of the elements: they are in the reference of their page.
  blockTags: [...OptionDefaults.blockTags, "@element", "@fires", "@slot", "@csspart", "@cssprop"],
  excludeTags: [...OptionDefaults.excludeTags, "@element", "@fires", "@slot", "@csspart", "@cssprop"],
  highlightLanguages: [
    "bash",
    "console",
    "css",
    "docker",
    "html",
    "javascript",
    "json",
    "python",
    "jsonc",
    "powershell",
    "sh",
    "svelte",
    "toml",
    "tsx",
    "typescript",
    "vue",
    "yaml",
  ],
  customCss: "scripts/docs/site.css",
  navigation: { includeFolders: false, excludeReferences: true },
  searchInDocuments: true,
  searchInComments: true,
  sort: ["kind", "source-order"],
  kindSortOrder: [
    "Document",
    "Module",
    "Function",
    "Class",
    "Interface",
    "TypeAlias",
    "Constructor",
    "Property",
    "Method",
  ],
  groupOrder: ["Documents", "Functions", "Classes", "Interfaces", "Type Aliases"],
  sortEntryPoints: false,
  // Parts of what is public, such as one event of a union, are reached by what they are a part of.
  validation: { notExported: false, invalidLink: true, invalidPath: true, rewrittenLink: true, notDocumented: true },
};

/** Builds the site. False when there was anything to warn of: a broken link, something public without a docstring. */
export async function buildSite() {
  const forgotten = readdirSync(join(root, "docs")).filter(
    (name) => name.endsWith(".md") && !PAGES.includes(`docs/${name}`),
  );
  if (forgotten.length > 0) throw new Error(`docs/${forgotten[0]} is missing from PAGES in scripts/docs/site.mjs.`);
  const app = await Application.bootstrap(OPTIONS);
  const project = await app.convert();
  if (project === undefined) return false;
  const generated = [
    [MARKER, configTable(await configuredKeys())],
    [REST_MARKER, restReference(await servedDocument())],
    [ELEMENTS_MARKER, describeElements(await readElements())],
  ];
  for (const page of project.documents ?? []) finish(page, generated);
  dropHeading(project.readme);
  app.validate(project);
  await app.generateDocs(project, SITE);
  return !app.logger.hasErrors() && !app.logger.hasWarnings();
}

/** A page is called by its heading; what is generated goes where its marker stands. */
function finish(page, generated) {
  const [first] = page.content;
  const heading = /^# (.*)$/m.exec(first?.text ?? "");
  if (heading === null) throw new Error(`${page.name} has no heading.`);
  page.name = heading[1];
  for (const part of page.content) {
    if (part.kind !== "text") continue;
    for (const [marker, text] of generated) part.text = part.text.replace(marker, () => text);
  }
}

/** The site's name stands above its front page already. */
function dropHeading([first]) {
  first.text = first.text.replace(/^# .*\n+/, "");
}

async function configuredKeys() {
  const { configKeys } = await import("../../dist/cli/config.js");
  return configKeys(JSON.parse(readFileSync(SCHEMA, "utf8")));
}

const unused = () => Promise.reject(new Error("It is not called."));

/** The document of a server that has everything there is. Nothing of it is called. */
async function servedDocument() {
  const [{ MemoryArtifactStore }, { OpenAiClient }, { SluiceServer }] = await Promise.all(
    ["index", "planner", "serve"].map((name) => import(`../../dist/${name}.js`)),
  );
  const server = new SluiceServer({
    store: new MemoryArtifactStore(),
    filesStore: new MemoryArtifactStore(),
    llm: new OpenAiClient({ model: "none", baseUrl: "http://127.0.0.1/v1", fetch: unused }),
    metrics: {},
    oidc: { issuer: "https://id.example" },
    publicUrl: "https://sluice.example",
  });
  try {
    const answer = await server.fetch(new Request("http://127.0.0.1/openapi.json"));
    return await answer.json();
  } finally {
    await server[Symbol.asyncDispose]();
  }
}
