/**
 * The panel of a resource: its contents and its actions.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import bell from "lucide-static/icons/bell.svg?raw";
import refresh from "lucide-static/icons/refresh-cw.svg?raw";
import type { ResourceReading } from "mcp-sluice/tools";
import { plainLines, plainText } from "../plain-text.js";
// oxlint-disable-next-line import/no-unassigned-import -- defines <sluice-artifact>
import "../artifact.js";
import { icon } from "../icons.js";
import type { ShownArtifact } from "../shown.js";
import type { ResourceReader, ShownReading } from "./reader.js";
import type { CachedResource, ResourceCache } from "./cache.js";

type Content = ResourceReading["contents"][number];
type TextContent = Extract<Content, { readonly kind: "text" }>;
type ArtifactContent = Extract<Content, { readonly kind: "artifact" }>;

/** Characters of a text shown at first and at most. */
const FIRST = 4_000;
const MOST = 200_000;
/** Contents shown at a time. */
const PAGE = 50;

/** What panels are wired with. */
export interface PanelDeps {
  readonly reader: ResourceReader;
  readonly cache: ResourceCache;
  /** How often "more" was pressed, by key. */
  readonly unfolded: ReadonlyMap<string, number>;
  unfold(key: string): void;
}

/** The panel of a resource. `name` is its display name. */
export function panel(uri: string, name: string, deps: PanelDeps): TemplateResult {
  const { cache, reader } = deps;
  const held = cache.get(uri);
  return html`<div class="row">
      <button
        type="button"
        aria-label=${`Refresh ${name}`}
        ?disabled=${held?.isReading === true}
        @click=${() => void cache.read(uri)}
      >
        ${icon(refresh)}Refresh
      </button>
      ${reader.supports.subscribe ? subscribing(uri, name, held, cache) : nothing}
      ${held?.readAt === undefined ? nothing : html`<span class="soft">Read ${new Date(held.readAt).toLocaleTimeString()}</span>`}
    </div>
    ${held?.isReading === true ? busy(uri, name, cache) : nothing}
    ${held === undefined ? nothing : problem(held, cache)}
    ${held?.reading === undefined ? nothing : contents(uri, held.reading, deps)}`;
}

function subscribing(
  uri: string,
  name: string,
  held: CachedResource | undefined,
  cache: ResourceCache,
): TemplateResult {
  const isOn = held?.isSubscribed === true;
  return html`<button
    type="button"
    aria-pressed=${isOn}
    aria-label=${`Subscribe to ${name}`}
    aria-disabled=${held?.isSubscribing === true}
    @click=${() => void cache.toggle(uri)}
  >
    ${icon(bell)}${isOn ? "Subscribed" : "Subscribe"}
  </button>`;
}

function busy(uri: string, name: string, cache: ResourceCache): TemplateResult {
  return html`<div class="row">
    <progress aria-label=${`Reading ${name}`}></progress>
    <button type="button" aria-label=${`Cancel reading ${name}`} @click=${() => cache.stop(uri)}>Cancel</button>
  </div>`;
}

function problem(held: CachedResource, cache: ResourceCache): TemplateResult | typeof nothing {
  if (held.problem === undefined) return nothing;
  const { sentence, retry } = held.problem;
  const again = (): void => void (retry === "read" ? cache.read(held.uri) : cache.toggle(held.uri));
  return html`<p class="problem">${sentence} <button type="button" @click=${again}>Try again</button></p>`;
}

function contents(uri: string, reading: ShownReading, deps: PanelDeps): TemplateResult {
  const { contents: all, artifacts = [], failures = [] } = reading;
  if (all.length === 0) return html`<p class="soft">The resource is empty.</p>`;
  const refs = new Map(artifacts.map((artifact) => [artifact.id, artifact]));
  const pages = `contents ${uri}`;
  const shown = all.slice(0, PAGE * (1 + (deps.unfolded.get(pages) ?? 0)));
  return html`${shown.map((content, at) =>
    content.kind === "text"
      ? renderText(content, `${at} ${uri}`, deps, all.length > 1)
      : html`<sluice-artifact
          .artifact=${refs.get(content.id) ?? toShownArtifact(content)}
          .bytes=${deps.reader.bytes?.(refs.get(content.id) ?? toShownArtifact(content))}
        ></sluice-artifact>`,
  )}
  ${
    shown.length < all.length
      ? html`<button type="button" @click=${() => deps.unfold(pages)}>
          Show ${PAGE} more of ${all.length} contents
        </button>`
      : nothing
  }
  ${failures.slice(0, 3).map(({ message }) => html`<p class="problem">${plainText(message, 300)}</p>`)}`;
}

function renderText(
  { text, uri, mime_type }: TextContent,
  key: string,
  deps: PanelDeps,
  isNamed: boolean,
): TemplateResult {
  const isWhole = deps.unfolded.has(key);
  const shown = text.slice(0, isWhole ? MOST : FIRST);
  const left = text.length - shown.length;
  return html`<figure>
    ${isNamed ? html`<figcaption class="soft"><bdi>${plainText(uri)}</bdi> ${plainText(mime_type, 100)}</figcaption>` : nothing}
    <pre tabindex="0" role="region" aria-label=${`Text of ${plainText(uri)}`}>${plainLines(shown)}</pre>
    ${
      left === 0
        ? nothing
        : isWhole
          ? html`<p class="soft">The first ${count(MOST)} of ${count(text.length)} characters.</p>`
          : html`<button type="button" @click=${() => deps.unfold(key)}>
              Show all ${count(text.length)} characters
            </button>`
    }
  </figure>`;
}

function count(number: number): string {
  return number.toLocaleString("en");
}

function toShownArtifact(content: ArtifactContent): ShownArtifact {
  const { id, mime_type, size_bytes, filename, summary, uri } = content;
  return { id, mime_type, size_bytes, filename, source: { description: summary, ...(uri !== "" && { uri }) } };
}
