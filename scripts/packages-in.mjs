/**
 * Which packages of others a bundle has in it, and their licences.
 * @module
 */
import { existsSync, readdirSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { shortenId } from "./module-paths.mjs";
import { root } from "./run.mjs";

const LISTS = join(root, "build/packages");

/**
 * Leaves the folders of the packages that a build has code of in `build/packages`, under the build's name. Configurations of Vite are loaded
 * as modules of their own, so that a list cannot be handed over otherwise.
 * @param {string} build
 * @returns {import("vite").Plugin}
 */
export function listPackages(build) {
  return {
    name: "sluice-packages",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter(({ type }) => type === "chunk");
      const ids = chunks.flatMap(({ modules }) => Object.keys(modules).filter((id) => modules[id].renderedLength > 0));
      const file = join(LISTS, `${build}.json`);
      mkdirSync(LISTS, { recursive: true });
      // A worker of more than one entry is built more than once.
      const folders = new Set([...listed(build), ...ids.flatMap(folderOf)]);
      writeFileSync(file, JSON.stringify([...folders]));
    },
  };
}

/** The folders of packages that a build listed. */
export function listed(build) {
  const file = join(LISTS, `${build}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
}

function folderOf(id) {
  const [path] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(shortenId(id)) ?? [];
  const folder = path === undefined ? undefined : join(root, path);
  return folder === undefined || !existsSync(join(folder, "package.json")) ? [] : [folder];
}

/** Licences of packages as Markdown, each under `## NAME - VERSION (LICENCE)`, in the order of their names. */
export function licencesOf(folders) {
  const packages = folders.map((folder) => ({
    folder,
    ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
  }));
  return packages
    .toSorted((a, b) => a.name.localeCompare(b.name, "en"))
    .map(({ folder, name, version, license }) => `## ${name} - ${version} (${license})\n\n${licenceIn(folder)}\n`)
    .join("\n");
}

/** The texts of a package's licences; also of what it has in folders of its own, such as fonts. */
function licenceIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|copying|notice)(?:[._-].*)?$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !dirname(path).slice(folder.length).includes("node_modules"));
  const texts = files.toSorted().map((path) => readFileSync(path, "utf8").trim());
  return texts.length > 0 ? [...new Set(texts)].join("\n\n") : "It comes without a text of its licence.";
}

/**
 * What a file of licences lists.
 * @param {string} text
 * @returns {{ name: string, version: string, licence: string }[]}
 */
export function readLicences(text) {
  return [...text.matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(([, name, version, licence]) => ({
    name,
    version,
    licence: licence.replace(/^\((.*)\)$/, "$1"),
  }));
}
