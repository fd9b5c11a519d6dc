/**
 * A server's resources, as the element that shows them asks for them.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { ResourceReader } from "mcp-sluice/ui/resources";
import type { Outcome } from "../engine/contract.js";
import type { Actions } from "./actions.js";

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
    variables: async (template) => valueOf(await resources.variables(template)),
    expand: async (template, values) => valueOf(await resources.expand(template, values)),
    bytes: (artifact) => actions.bytesOf("session", artifact),
  };
}

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.problem;
  throw new SluiceError(code as SluiceError["code"], message);
}
