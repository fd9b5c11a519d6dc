/**
 * What is in a package of others, as a bill of materials of CycloneDX. It is made of the papers that travel in the package, so it tells
 * what is there, and not what the checkout has. What an installation brings beside the package is not in it.
 * @module
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readLicences } from "../packages-in.mjs";

/** The papers of `mcp-sluice`, each in the folder that it is about. */
export const SLUICE_PAPERS = ["core", "bundled", "ui", "mcp/artifact-app"].map((name) => `dist/${name}/LICENSES.md`);

/** Those of `mcp-sluice-playground`. */
export const PLAYGROUND_PAPERS = ["site/licenses/LICENSES.md"];

/** What is linked into the core comes from elsewhere than npm. */
const SOURCES = {
  nlohmann_json: (version) => `pkg:github/nlohmann/json@v${version}`,
  emscripten: (version) => `pkg:github/emscripten-core/emscripten@${version}`,
  musl: (version) => `pkg:generic/musl@${version}`,
  "llvm-libcxx": (version) => `pkg:github/llvm/llvm-project@llvmorg-${version}`,
};

/**
 * The bill of materials of a package.
 * @param {{ name: string, version: string, description: string, license: string }} manifest
 * @param {{ folder: string, papers: string[], sha256: string, time?: string }} options `sha256` of the tarball; `time` of the commit
 */
export function billOfMaterials({ name, version, description, license }, { folder, papers, sha256, time }) {
  const ref = purlOf(name, version);
  const components = componentsOf(folder, papers);
  const bill = {
    metadata: {
      ...(time !== undefined && { timestamp: time }),
      component: {
        "bom-ref": ref,
        type: "application",
        name,
        version,
        description,
        hashes: [{ alg: "SHA-256", content: sha256 }],
        licenses: licensesOf(license),
        purl: ref,
      },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map((component) => component["bom-ref"]) }],
    compositions: [{ aggregate: "complete", assemblies: [ref] }],
  };
  return { bomFormat: "CycloneDX", specVersion: "1.6", serialNumber: serialOf(bill), version: 1, ...bill };
}

/** One for each version of a package, with the folders that have it. */
function componentsOf(folder, papers) {
  const found = new Map();
  for (const paper of papers) {
    for (const { name, version, licence } of readLicences(readFileSync(join(folder, paper), "utf8"))) {
      const ref = purlOf(name, version);
      const known = found.get(ref) ?? { name, version, licence, places: [] };
      found.set(ref, { ...known, places: [...new Set([...known.places, paper.replace(/\/[^/]+$/, "")])] });
    }
  }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([ref, { name, version, licence, places }]) => ({
      "bom-ref": ref,
      type: "library",
      ...namesOf(name),
      version,
      licenses: licensesOf(licence),
      purl: ref,
      evidence: { occurrences: places.map((location) => ({ location })) },
    }));
}

function namesOf(name) {
  const scoped = /^(@[^/]+)\/(.+)$/.exec(name);
  return scoped === null ? { name } : { group: scoped[1], name: scoped[2] };
}

function purlOf(name, version) {
  const source = SOURCES[name];
  return source === undefined ? `pkg:npm/${name.replace(/^@/, "%40")}@${version}` : source(version);
}

const licensesOf = (licence) => (/\s/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }]);

/** A UUID of the contents: the same contents are the same document. */
function serialOf(bill) {
  const hex = createHash("sha256").update(JSON.stringify(bill)).digest("hex");
  const variant = ((Number.parseInt(hex[16], 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}
