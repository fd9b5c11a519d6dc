/**
 * Readers for the tests of `<sluice-resources>`: one through a ToolNode, one whose answers a test gives.
 * @module
 */
import { MemoryArtifactStore } from "mcp-sluice";
import { ToolNode } from "mcp-sluice/tools";
import { onTestFinished } from "vitest";
import { parseTemplate } from "url-template";
import { DEMO_URL } from "../../../web/playground/demo/example.js";
import { demoFetch } from "../../../web/playground/demo/server.js";
import { type ResourceReader, resourceUpdated, SluiceResources } from "../../../web/ui/resources.js";

/** Shows resources; the element is away with the next test. */
export async function shown(given: Partial<SluiceResources>): Promise<SluiceResources> {
  const element = Object.assign(new SluiceResources(), given);
  document.body.replaceChildren(element);
  await element.updateComplete;
  return element;
}

/** A part that is there. */
export function part(element: SluiceResources, selector: string): HTMLElement {
  const found = element.renderRoot.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`There is no ${selector}.`);
  return found;
}

/** The buttons with these words on them, or for those who hear. */
export function button(element: SluiceResources, words: string): HTMLElement {
  const found = [...element.renderRoot.querySelectorAll<HTMLElement>("button")].find(
    (each) => each.getAttribute("aria-label") === words || each.textContent.trim().startsWith(words),
  );
  if (found === undefined) throw new Error(`There is no button ${words}.`);
  return found;
}

/** The names of the rows that are shown. */
export function names(element: SluiceResources): readonly string[] {
  return [...element.renderRoot.querySelectorAll(".opener .name")].map((name) => name.textContent);
}

/** What each of a reader's answers waits for; what is left out fails. */
export type Answers = Partial<ResourceReader>;

/** A reader that knows templates, and answers as it is told. */
export function answering(answers: Answers): ResourceReader {
  return {
    supports: { subscribe: true, complete: true },
    read: fail,
    subscribe: fail,
    unsubscribe: fail,
    complete: fail,
    variables: (template) =>
      [...template.matchAll(/\{(\??)(\w+)\}/g)].map(([, optional, name = ""]) => ({
        name,
        isRequired: optional === "",
      })),
    expand: (template, values) => parseTemplate(template).expand({ ...values }),
    ...answers,
  };
}

function fail(): Promise<never> {
  return Promise.reject(new Error("/home/ada/not said"));
}

/** A reader of the demo server, with what it lists. */
export async function demo(): Promise<
  Pick<SluiceResources, "reader" | "resources" | "templates"> & { node: ToolNode }
> {
  const node = new ToolNode(
    { name: "demo", transport: "mcp", connection: DEMO_URL },
    {
      fetch: demoFetch(),
      store: new MemoryArtifactStore(),
      onEvent: (event) => {
        if (event.kind === "resource" && event.event.kind === "updated") resourceUpdated(reader, event.event.uri);
      },
    },
  );
  const reader = answering({
    read: (uri, signal) => node.readResource(uri, { signal }),
    subscribe: (uri, signal) => node.subscribe(uri, { signal }),
    unsubscribe: (uri, signal) => node.unsubscribe(uri, { signal }),
    complete: (template, variable, value, signal) => node.complete(template, variable, value, { signal }),
  });
  onTestFinished(() => node.close());
  await node.connect();
  const [resources, templates] = await Promise.all([node.listResources(), node.listResourceTemplates()]);
  return { node, reader, resources: resources.items, templates: templates.items };
}
