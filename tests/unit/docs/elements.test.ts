/** The manifest of the elements: it says all that editors and pages need, and nothing that the sources do not. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeElements, ELEMENTS_MARKER, readElements } from "../../../scripts/elements.mjs";
import { ROOT } from "../cli/command.js";

interface Named {
  readonly name: string;
  readonly description?: string;
}

interface ElementDeclaration {
  readonly tagName: string;
  readonly description: string;
  readonly members: readonly (Named & { readonly kind: string })[];
  readonly attributes?: readonly (Named & { readonly fieldName: string })[];
  readonly events?: readonly Named[];
  readonly slots?: readonly Named[];
  readonly cssParts?: readonly Named[];
  readonly cssProperties?: readonly Named[];
}

const manifest = await readElements();
const { modules } = manifest as {
  readonly modules: readonly { readonly declarations: readonly ElementDeclaration[] }[];
};
const elements = modules.flatMap(({ declarations }) => declarations);

const readSource = (tag: string): Promise<string> =>
  readFile(join(ROOT, `web/ui/${tag.replace("sluice-", "")}.ts`), "utf8");

const listMatches = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))].toSorted();

const listNames = (named: readonly Named[] = []): string[] => named.map(({ name }) => name).toSorted();

test("has each element that frameworks have types of", async () => {
  const props = await readFile(join(ROOT, "web/ui/props.ts"), "utf8");
  const [, tags = ""] = /type ElementTag = ([^;]*);/.exec(props) ?? [];
  expect(elements.map(({ tagName }) => tagName).toSorted()).toEqual(listMatches(tags, /"([\w-]+)"/g));
});

describe.each(elements.map((element) => [element.tagName, element] as const))("<%s>", (tag, element) => {
  test("has its properties, and no state of its own", async () => {
    const [, properties = ""] = /static override properties = \{([^]*?)\n  \};/.exec(await readSource(tag)) ?? [];
    const own = [...properties.matchAll(/^ {4}(\w+): \{(.*)\}/gm)].filter(
      ([, , options = ""]) => !options.includes("state: true"),
    );
    const fields = element.members.filter(({ kind }) => kind === "field");
    expect(listNames(fields)).toEqual(own.map(([, name = ""]) => name).toSorted());
    const attributes = own.filter(([, , options = ""]) => !options.includes("attribute: false"));
    expect((element.attributes ?? []).map(({ fieldName }) => fieldName).toSorted()).toEqual(
      attributes.map(([, name = ""]) => name).toSorted(),
    );
  });

  test("has the parts and the slots that its templates have", async () => {
    const source = await readSource(tag);
    expect(listNames(element.cssParts)).toEqual(listMatches(source, /\spart="([\w-]+)"/g));
    expect(listNames(element.slots)).toEqual(listMatches(source, /<slot name="([\w-]+)"/g));
  });

  test("says of each thing what it is", () => {
    const { members, events, slots, cssParts, cssProperties } = element;
    expect(element.description).not.toBe("");
    const named = [members, events, slots, cssParts, cssProperties].flatMap((all) => all ?? []);
    expect(named.filter(({ description = "" }) => !description.endsWith("."))).toEqual([]);
  });
});

describe("the reference", () => {
  const reference = describeElements(manifest);

  test("has a place on the page", async () => {
    expect((await readFile(join(ROOT, "docs/elements.md"), "utf8")).split(ELEMENTS_MARKER)).toHaveLength(2);
  });

  test("names everything, in tables that Markdown reads", () => {
    for (const { members, events = [], cssParts = [], cssProperties = [], slots = [] } of elements) {
      for (const { name } of [...events, ...cssParts, ...cssProperties, ...slots])
        expect(reference).toContain(`| \`${name}\` |`);
      for (const { kind, name } of members)
        expect(reference).toContain(kind === "method" ? `\`${name}()\`` : `\`${name}\``);
    }
    for (const table of reference.split("\n\n").filter((part) => part.startsWith("|"))) {
      const widths = table.split("\n").map((line) => line.replaceAll("\\|", "").split("|").length);
      expect(new Set(widths).size).toBe(1);
    }
  });
});
