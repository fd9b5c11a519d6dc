/**
 * What the elements take and tell: `dist/custom-elements.json`, by which editors complete them, and the reference of the documentation.
 * Read from the sources: properties with their comments, and the tags `@fires`, `@slot`, `@csspart` and `@cssprop` of the classes.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** Stands in a page where the reference goes. */
export const ELEMENTS_MARKER = "<!-- the elements -->";

/** The manifest, below the checkout. */
export const MANIFEST = "dist/custom-elements.json";

/** The modules of the elements that `mcp-sluice/ui` defines, in the order of the page that tells of them. */
const NAMES = ["artifact", "viewer", "result", "resources", "meter"];

/** The file that users import. */
const ENTRY = "dist/ui/index.js";

/** Leaves out what is private, and everything that is no element. */
const published = {
  name: "sluice-published",
  packageLinkPhase({ customElementsManifest: manifest }) {
    const elements = manifest.modules.flatMap((module) => module.declarations.filter((each) => each.customElement));
    for (const element of elements) {
      element.members = element.members.filter(({ privacy }) => privacy === undefined || privacy === "public");
      // What dispatches several events by a variable is taken for an event of the variable's name.
      element.events = element.events?.filter(({ description }) => description !== undefined);
      element.attributes = element.attributes?.filter(({ fieldName }) =>
        element.members.some(({ name }) => name === fieldName),
      );
    }
    const exports = elements.map(({ name, tagName }) => ({
      kind: "custom-element-definition",
      name: tagName,
      declaration: { name, module: ENTRY },
    }));
    manifest.modules = [{ kind: "javascript-module", path: ENTRY, declarations: elements, exports }];
  },
};

/** Reads the elements. @returns {Promise<object>} a manifest in the form of custom-elements-manifest 1.0 */
export async function readElements() {
  const { create, ts } = await import("@custom-elements-manifest/analyzer");
  const { litPlugin } = await import("@custom-elements-manifest/analyzer/src/features/framework-plugins/lit/lit.js");
  const modules = NAMES.map((name) => {
    const path = `web/ui/${name}.ts`;
    return ts.createSourceFile(path, readFileSync(join(root, path), "utf8"), ts.ScriptTarget.ES2022, true);
  });
  return create({ modules, plugins: [...litPlugin(), published] });
}

/**
 * The reference in Markdown: of each element a heading and its tables.
 * @param {object} manifest
 * @returns {string}
 */
export function describeElements({ modules: [{ declarations }] }) {
  return declarations
    .map((element) => [`### &lt;${element.tagName}&gt;`, ...listTables(element)].join("\n\n"))
    .join("\n\n");
}

function listTables({ members, attributes = [], events = [], slots = [], cssParts = [], cssProperties = [] }) {
  const attribute = new Map(attributes.map(({ name, fieldName }) => [fieldName, name]));
  const fields = members.filter(({ kind }) => kind === "field");
  const methods = members.filter(({ kind, description }) => kind === "method" && description !== undefined);
  return [
    writeTable(["Property", "Attribute", "Type", "What it is"], fields, ({ name, type, description }) => [
      code(name),
      attribute.has(name) ? code(attribute.get(name)) : "",
      code(type?.text),
      description,
    ]),
    writeTable(["Method", "What it does"], methods, ({ name, description }) => [code(`${name}()`), description]),
    writeTable(["Event", "Type", "What it says"], events, ({ name, type, description }) => [
      code(name),
      code(type?.text),
      description,
    ]),
    writeTable(["Slot", "What goes there"], slots, ({ name, description }) => [code(name), description]),
    writeTable(["CSS part", "What it is"], cssParts, ({ name, description }) => [code(name), description]),
    writeTable(
      ["CSS property", "Default", "What it sets"],
      cssProperties,
      ({ name, default: standard, description }) => [code(name), code(standard), description],
    ),
  ].filter((table) => table !== "");
}

function writeTable(head, items, toCells) {
  if (items.length === 0) return "";
  return [head, head.map(() => "---"), ...items.map(toCells)].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Code in a cell, where Markdown would take `|` for its border. */
const code = (text = "") => (text === "" ? "" : `\`${text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")}\``);
