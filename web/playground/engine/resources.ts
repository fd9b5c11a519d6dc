/**
 * The resources of all servers.
 * @module
 */
import { fillTemplate, type TemplateVariable, templateVariables } from "mcp-sluice/tools";
import type { Outcome, ShownReading, ShownResources } from "./messages.js";
import { outcome } from "./outcome.js";
import type { Servers } from "./servers.js";

/** Reads resources through the servers' connections. */
export class Resources {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Lists the resources and templates of a server. */
  async list(server: string): Promise<Outcome<ShownResources>> {
    return outcome(() =>
      this.#servers.get(server).use(async (node, context) => {
        const { items: resources } = await node.listResources(context);
        const { items: templates } = await node.listResourceTemplates(context);
        return { resources, templates };
      }),
    );
  }

  /** Reads a resource. */
  async read(server: string, uri: string): Promise<Outcome<ShownReading>> {
    return outcome(() =>
      this.#servers.get(server).use(async (node, context) => {
        const { contents, artifacts } = await node.readResource(uri, context);
        return { contents, artifacts: artifacts.map(({ scope: _, ...artifact }) => artifact) };
      }),
    );
  }

  /** Subscribes to a resource or unsubscribes. */
  async subscribe(server: string, uri: string, wanted: boolean): Promise<Outcome<null>> {
    return outcome(() =>
      this.#servers.get(server).use(async (node, context) => {
        await (wanted ? node.subscribe(uri, context) : node.unsubscribe(uri, context));
        return null;
      }),
    );
  }

  /** Completions for a variable; none if the server has none. */
  async complete(server: string, template: string, variable: string, value: string): Promise<readonly string[]> {
    const completed = await outcome(() =>
      this.#servers.get(server).use((node, context) => node.complete(template, variable, value, context)),
    );
    return completed.ok ? completed.value : [];
  }

  /** The variables of a template. */
  async variables(template: string): Promise<Outcome<readonly TemplateVariable[]>> {
    return outcome(async () => templateVariables(template));
  }

  /** Expands a URI template. */
  async expand(template: string, values: Readonly<Record<string, string>>): Promise<Outcome<string>> {
    return outcome(async () => fillTemplate(template, values));
  }
}
