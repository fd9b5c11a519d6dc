/**
 * A server's resources, as the element that shows them asks for them.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { ResourceReader } from "mcp-sluice/ui/resources";
import { parseTemplate } from "url-template";
import type { Outcome } from "../engine/contract.js";
import type { Actions } from "./actions.js";

/** Operators of RFC 6570 whose variables may be missing without a hole in the URI. */
const OPTIONAL = /^[?&;#]/;

/** Reads through the engine. */
export function resourceReader(actions: Actions, server: string): ResourceReader {
  const { resources } = actions;
  return {
    supports: { subscribe: true, complete: true },
    async read(uri) {
      const reading = valueOf(await resources.read(server, uri));
      actions.seen(server, uri);
      return reading;
    },
    async subscribe(uri) {
      valueOf(await resources.subscribe(server, uri, true));
    },
    async unsubscribe(uri) {
      valueOf(await resources.subscribe(server, uri, false));
    },
    complete: (template, variable, value) => resources.complete(server, template, variable, value),
    variables: (template) => variablesOf(template),
    expand: (template, values) => parseTemplate(template).expand(filled(values)),
    bytes: (artifact) => actions.bytesOf("session", artifact),
  };
}

/** The variables of a template's expressions, each once. */
export function variablesOf(template: string): readonly { readonly name: string; readonly isRequired: boolean }[] {
  parseTemplate(template);
  const found = new Map<string, boolean>();
  for (const [, expression = ""] of template.matchAll(/\{([^{}]+)\}/g)) {
    const isRequired = !OPTIONAL.test(expression);
    for (const each of expression.replace(/^[+#./;?&]/, "").split(",")) {
      const name = each.replace(/(?::\d+|\*)$/, "");
      found.set(name, (found.get(name) ?? false) || isRequired);
    }
  }
  return [...found].map(([name, isRequired]) => ({ name, isRequired }));
}

function filled(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.problem;
  throw new SluiceError(code as SluiceError["code"], message);
}
