/**
 * Builds the pages of the playground: static files that work under any path, with what pdf.js loads by itself.
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { bundledClient } from "../../scripts/mcp-client.mjs";
import { shortenId, viteRoot } from "../../scripts/module-paths.mjs";
import { listPackages } from "../../scripts/packages-in.mjs";
import { listPublished } from "../published.js";

const here = (path: string): string => join(viteRoot, "web/playground", path);

const FOLDERS = ["cmaps", "standard_fonts", "wasm", "iccs"];

/** Copies them to `pdf/`. */
function pdfAssets(): Plugin {
  const home = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
  return {
    name: "sluice-pdf-assets",
    apply: "build",
    generateBundle() {
      const emit = (fileName: string, path: string): void => {
        this.emitFile({ type: "asset", fileName, source: readFileSync(join(home, path)) });
      };
      for (const name of ["pdf.min", "pdf.worker.min"]) emit(`pdf/${name}.js`, `build/${name}.mjs`);
      for (const folder of FOLDERS) {
        for (const name of readdirSync(join(home, folder))) {
          if (!name.startsWith("LICENSE")) emit(`pdf/${folder}/${name}`, join(folder, name));
        }
      }
    },
  };
}

/**
 * zod without what nothing of the page goes: its way from schemas to JSON Schema, and values that contain themselves, which JSON cannot.
 * A first visit would wait for 14 KB of it.
 */
function leanZod(): Plugin {
  return {
    name: "sluice-zod",
    load(id) {
      const [, part] = /(?:^|\/)node_modules\/zod\/v4\/core\/([\w-]+)\.js$/.exec(shortenId(id)) ?? [];
      if (part === "memoizer") {
        return readFileSync(id, "utf8").replace(/(?<=function memoizer\(\) \{\s*)return memo;/, "return undefined;");
      }
      if (part !== "json-schema-processors" && part !== "to-json-schema") return null;
      const names = [...readFileSync(id, "utf8").matchAll(/^export (?:const|function) (\w+)/gm)];
      return names.map(([, name]) => `export const ${name} = () => undefined;`).join("\n");
    },
  };
}

/** What functions return without telemetry, by module; all others return undefined. */
const UNSEEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "telemetry/operation": { observeOperation: "(info, work) => work()" },
  "mcp/request-operation": { withTraceContext: "(message) => message" },
};

/** What records spans and metrics. This page has no SDK for them, and a first visit would wait for 3 KB. */
function withoutTelemetry(): Plugin {
  return {
    name: "sluice-telemetry",
    load(id) {
      const place = /^dist\/(telemetry\/(?!api)[\w-]+|mcp\/request-operation)\.js$/.exec(shortenId(id))?.[1];
      if (place === undefined) return null;
      const code = readFileSync(id, "utf8");
      const names = [...code.matchAll(/\bexport (?:const|class|(?:async )?function) (\w+)/g)].map(
        ([, name = ""]) => name,
      );
      const unseen = UNSEEN[place] ?? {};
      for (const name of Object.keys(unseen)) {
        if (!names.includes(name)) this.error(`${place} exports no ${name} any more: change UNSEEN in vite.config.ts.`);
      }
      return names.map((name) => `export const ${name} = ${unseen[name] ?? "() => undefined"};`).join("\n");
    },
  };
}

/** Stands for the reader of artifacts in the list of tools over them, and loads it with the first that is read. */
const LATE_READER = `
export class ArtifactReader {
  constructor(...given) { this.given = given; }
  async call(...asked) {
    const { ArtifactReader: Reader } = await import(${JSON.stringify(here("../../dist/mcp/artifact-reader/artifact-reader.js"))});
    return (this.reader ??= new Reader(...this.given)).call(...asked);
  }
}`;

/** A first visit does not wait for 19 KB of that. The library has it at once, since service workers load nothing later. */
function lateReader(): Plugin {
  const id = "\0sluice-late-reader";
  return {
    name: "sluice-late-reader",
    enforce: "pre",
    resolveId(source, importer = "") {
      const isTools = shortenId(importer) === "dist/mcp/artifact-tools.js";
      return isTools && source.endsWith("/artifact-reader/artifact-reader.js") ? id : null;
    },
    load: (asked) => (asked === id ? LATE_READER : null),
  };
}

/** The glue of the module that tells of PDFs, as the first result is one. It is much the same as that of the core: beside it, it takes 1 KB. */
function glueTogether(): Plugin {
  return {
    name: "sluice-glue",
    transform(code, id) {
      if (shortenId(id) !== "dist/core/facts-module.js") return null;
      const changed = code.replace(/\bimport\([`"]\.\/pdf\.mjs[`"]\)/, "Promise.resolve(pdfGlue)");
      if (changed === code) this.error("facts-module.js imports its glue otherwise now: change glueTogether.");
      return { code: `import * as pdfGlue from "./pdf.mjs";${changed}`, map: null };
    },
  };
}

/**
 * The MCP client of the package as its own sources, so that the worker has one copy of it: the demo server is made of it too. Sign-in,
 * which few visits need, takes what it alone calls from the package.
 */
function oneClient(): Plugin {
  return {
    name: "sluice-one-client",
    enforce: "pre",
    resolveId(source, importer = "") {
      if (!source.endsWith("/bundled/modelcontextprotocol-client.js")) return null;
      if (shortenId(importer).startsWith("dist/tools/auth/")) return null;
      return this.resolve("@modelcontextprotocol/client", importer);
    },
  };
}

/** The licences of the fonts, which ask to come along. */
function fontLicences(): Plugin {
  return {
    name: "sluice-fonts",
    generateBundle() {
      for (const name of ["geist", "geist-mono"]) {
        const source = readFileSync(here(`../../node_modules/@fontsource-variable/${name}/LICENSE`));
        this.emitFile({ type: "asset", fileName: `licenses/${name}.txt`, source });
      }
    },
  };
}

/** Icons without their attributes, which the page gives them again; their licence is a file of its own. */
function shortIcons(): Plugin {
  return {
    name: "sluice-icons",
    enforce: "pre",
    generateBundle() {
      const home = dirname(createRequire(import.meta.url).resolve("lucide-static/package.json"));
      const source = readFileSync(join(home, "LICENSE"));
      this.emitFile({ type: "asset", fileName: "licenses/lucide.txt", source });
    },
    load(id) {
      if (!id.endsWith(".svg?raw") || !/(?:^|\/)node_modules\/lucide-static\/icons\//.test(shortenId(id))) return null;
      const [, inner = ""] = /<svg[^>]*>([^]*)<\/svg>/.exec(readFileSync(id.replace(/\?raw$/, ""), "utf8")) ?? [];
      return `export default ${JSON.stringify(`<svg>${inner.replaceAll(/\s*\n\s*/g, "")}</svg>`)};`;
    },
  };
}

const shortenStyle = (_: string, style: string): string =>
  `css\`${style
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .replaceAll(": ", ":")
    .replaceAll(";}", "}")}\``;

/** Styles without what is written for people: indentation and comments. */
function shortStyles(): Plugin {
  return {
    name: "sluice-styles",
    enforce: "pre",
    transform(code, id) {
      if (!/^web\/(?:ui|playground)\/.*\.ts$/.test(shortenId(id)) || !code.includes("css`")) return null;
      return { code: code.replaceAll(/(?<![\w.])css`([^`]*)`/g, shortenStyle), map: null };
    },
  };
}

/**
 * One file for the demo's example and the libraries that the worker starts with: several files compress less. Sign-in, the tiered store and
 * the tokenizer are left out, since few visits need them.
 */
const WORKER_BEGIN = {
  name: "worker-begin",
  tags: ["$initial" as const],
  test: (id: string): boolean => {
    const path = shortenId(id);
    return (
      /^(?:dist|web\/playground\/demo)\/|(?:^|\/)node_modules\//.test(path) &&
      !/^dist\/(?:(?:index|tools)\.js|tools\/auth\/|artifacts\/tiered\/|bundled\/modelcontextprotocol)/.test(path) &&
      !/(?:^|\/)node_modules\/(?:oauth4webapi|gpt-tokenizer)\//.test(path)
    );
  },
};

/** The same for the page, without what the callback page shares. */
const PAGE_BEGIN = {
  name: "page-begin",
  tags: ["$initial" as const],
  test: (id: string): boolean => {
    const path = shortenId(id);
    const isShared = path.endsWith("/callback-channel.ts");
    return /^(?:dist|web\/ui|web\/playground\/app)\/|(?:^|\/)node_modules\//.test(path) && !isShared;
  },
};

const { version } = JSON.parse(readFileSync(here("../../package.json"), "utf8")) as { readonly version: string };

export default defineConfig({
  define: { "import.meta.env.SLUICE_VERSION": JSON.stringify(version) },
  root: here("."),
  base: "./",
  resolve: {
    preserveSymlinks: true,
    alias: [
      ...listPublished(),
      { find: /^@modelcontextprotocol\/client\/_shims$/, replacement: here("../mcp-shims.ts") },
    ],
  },
  worker: {
    format: "es",
    plugins: () => [
      leanZod(),
      withoutTelemetry(),
      lateReader(),
      glueTogether(),
      oneClient(),
      bundledClient(),
      listPackages("worker"),
    ],
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ["z"],
        moduleSideEffects: (id) => (shortenId(id).includes("@modelcontextprotocol/") ? false : undefined),
      },
      output: { codeSplitting: { groups: [WORKER_BEGIN] } },
    },
  },
  build: {
    outDir: here("../../build/site"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ["index.html", "callback.html"].map(here),
      output: { codeSplitting: { groups: [PAGE_BEGIN] } },
    },
  },
  plugins: [withoutTelemetry(), pdfAssets(), fontLicences(), shortIcons(), shortStyles(), listPackages("page")],
});
