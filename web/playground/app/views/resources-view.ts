/**
 * The resources of a server.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { ResourceReader } from "../../../ui/resources.js";
import "../../../ui/resources.js";
import { findCache } from "../../../ui/resources/cache.js";
import { css, html, type TemplateResult } from "lit";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Outcome, Problem, ShownResources } from "../../engine/messages.js";
import type { Actions } from "../actions.js";
import { currentServer, type State } from "../state.js";
import { viewStyles } from "../styles.js";
import { ViewElement } from "../view-element.js";

/** A reader of a server's resources through the engine. */
function resourceReader(actions: Actions, server: string): ResourceReader {
  const { resources } = actions;
  return {
    supports: { subscribe: true, complete: true },
    async read(uri) {
      const reading = takeValue(await resources.read(server, uri));
      actions.seen(server, uri);
      return reading;
    },
    async subscribe(uri) {
      takeValue(await resources.subscribe(server, uri, true));
    },
    async unsubscribe(uri) {
      takeValue(await resources.subscribe(server, uri, false));
    },
    complete: (template, variable, value) => resources.complete(server, template, variable, value),
    variables: async (template) => takeValue(await resources.variables(template)),
    expand: async (template, values) => takeValue(await resources.expand(template, values)),
    bytes: (artifact) => actions.bytesOf("session", artifact),
  };
}

function takeValue<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.problem;
  throw new SluiceError(code as SluiceError["code"], message);
}

/** Characters of a URI in a sentence. */
const MAX_URI = 200;

/** `<playground-resources>` */
class ResourcesView extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    listed: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 24px 32px 48px;
      }
      @media (max-width: 1099px) {
        :host {
          padding: 16px;
        }
      }
      h2 {
        margin-block-end: 8px;
      }
    `,
  ];

  declare listed: ShownResources | undefined;
  declare problem: Problem | undefined;
  /** The server and the number of changes that the lists were requested for. */
  #asked = "";
  #reader: ReturnType<typeof resourceReader> | undefined;
  /** The server whose lists are shown. */
  #listedOf = "";
  #looked: State["resource"];

  override willUpdate(): void {
    const { server, changes, resource } = this.state;
    // Back, or an address, may lead to one that is gone.
    if (resource !== this.#looked) queueMicrotask(() => this.#tellMissing(this.#listedOf));
    this.#looked = resource;
    const status = currentServer(this.state)?.status ?? "connecting";
    const asking = `${server} ${status} ${changes}`;
    // Lists are asked for once the server is there.
    if (asking === this.#asked || status === "connecting") return;
    const { readers } = this.actions;
    this.#reader = readers.get(server) ?? resourceReader(this.actions, server);
    readers.set(server, this.#reader);
    this.#asked = asking;
    void this.#ask(server, asking);
  }

  override render(): TemplateResult {
    const { server, updates, resource } = this.state;
    if (this.problem !== undefined) {
      return html`<div class="empty">
        <p>${this.problem.message}</p>
        <button class="primary" @click=${() => this.#ask(server, this.#asked)}>Try again</button>
      </div>`;
    }
    if (this.listed === undefined) return html`<p class="empty" role="status">Asking ${server}…</p>`;
    const own = [...updates]
      .filter((each) => each.startsWith(`${server} `))
      .map((each) => each.slice(server.length + 1));
    return html`<h2 class="title">Resources of ${server}</h2>
      <sluice-resources
        .resources=${this.listed.resources}
        .templates=${this.listed.templates}
        .reader=${this.#reader}
        .updates=${new Set(own)}
        .selected=${resource?.server === server ? resource.uri : undefined}
        @sluice-select=${({ detail }: CustomEvent<string | null>) => this.#select(server, detail)}
        @sluice-preview=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail)}
        @sluice-open=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.preview(detail, "session", true)}
        @sluice-save=${({ detail }: CustomEvent<ShownArtifact>) => this.actions.save(detail)}
      ></sluice-resources>`;
  }

  async #ask(server: string, asking: string): Promise<void> {
    this.problem = undefined;
    void this.actions.engine.check(server);
    const outcome = await this.actions.resources.resources(server);
    if (asking !== this.#asked) return;
    if (!outcome.ok) {
      this.problem = outcome.problem;
      return;
    }
    this.listed = outcome.value;
    this.#listedOf = server;
    this.#tellMissing(server);
  }

  #select(server: string, uri: string | null): void {
    this.store.set({ resource: uri === null ? undefined : { server, uri } });
  }

  /** Says that the resource in the address is gone. */
  #tellMissing(server: string): void {
    const { resource } = this.state;
    if (resource?.server !== server || this.#reader === undefined || this.listed === undefined) return;
    const { uri } = resource;
    const { resources, templates } = this.listed;
    const isListed = resources.some((each) => each.uri === uri) || templates.some((each) => each.uri_template === uri);
    if (isListed || findCache(this.#reader).get(uri) !== undefined) return;
    const text = `${server} does not list the resource in this address any more: ${uri.slice(0, MAX_URI)}`;
    this.store.set({ resource: undefined, answer: { text, isBad: true } });
  }
}

customElements.define("playground-resources", ResourcesView);
