/**
 * Cards of the resources that a result links to. Each is read only on request; what came of it takes the place of its card.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { ShownArtifact } from "mcp-sluice/ui";
import { cards, viewStyles } from "../styles.js";
import type { Fetched, ShownCall, Store } from "../state.js";
import { ViewElement } from "../view-element.js";
import type { Actions } from "../actions.js";
import { artifactCards } from "./artifact-cards.js";

/** `<playground-links>` */
class LinkCards extends ViewElement {
  static override properties = { ...ViewElement.properties, call: { attribute: false } };
  static override styles = [
    viewStyles,
    cards,
    css`
      .cards > .stack {
        gap: 0;
      }
    `,
  ];

  declare call: ShownCall;

  override render(): TemplateResult {
    const links = this.call.result?.links ?? [];
    const came = links.flatMap(({ id }) => this.call.fetched?.[id]?.artifacts ?? []);
    const left = links.filter(({ id }) => this.call.fetched?.[id]?.artifacts === undefined);
    return html`<div class="stack">
      ${
        came.length === 0
          ? nothing
          : html`<h3>Read</h3>
              ${artifactCards(this.actions, came)}`
      }
      ${
        left.length === 0
          ? nothing
          : html`<h3>Linked, not read yet</h3>
              <div class="cards">${left.map((link) => this.#card(link))}</div>`
      }
    </div>`;
  }

  #card(link: ShownArtifact): TemplateResult {
    const fetched = this.call.fetched?.[link.id];
    return html`<div class="stack">
      <sluice-artifact .artifact=${link} @sluice-fetch=${() => fetchLink(this.call, link, this)}></sluice-artifact>
      <p role="status" class="soft" ?hidden=${fetched?.problem !== undefined}>
        ${fetched === undefined ? nothing : "Reading…"}
      </p>
      ${fetched?.problem === undefined ? nothing : html`<p class="problem" role="alert">${fetched.problem.message}</p>`}
    </div>`;
  }
}

customElements.define("playground-links", LinkCards);

/** Reads a resource that a result names, and shows what came. */
async function fetchLink(
  { id, server, fetched: known }: ShownCall,
  link: ShownArtifact,
  { store, actions }: { readonly store: Store; readonly actions: Actions },
): Promise<void> {
  const before = known?.[link.id];
  if (before !== undefined && before.problem === undefined) return;
  const put = (came: Fetched): void => {
    const fetched = store.state.calls.find((call) => call.id === id)?.fetched;
    store.setCall(id, { fetched: { ...fetched, [link.id]: came } });
  };
  put({});
  const outcome = await actions.resources.read(server, String(link.source?.["uri"]));
  if (!outcome.ok) return put({ problem: outcome.problem });
  const { artifacts } = outcome.value;
  const [first] = artifacts;
  if (first === undefined) {
    return put({ problem: { code: "E_NOT_FOUND", message: "The resource is empty or could not be stored." } });
  }
  put({ artifacts });
  actions.preview(first);
}
