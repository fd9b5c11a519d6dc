/**
 * The app that MCP hosts show beside calls of our tools (MCP Apps): the artifact of the call, drawn by the elements. It reads through the
 * host alone and runs nothing of what it shows.
 * @module
 */
import {
  App,
  applyDocumentTheme,
  applyHostStyleVariables,
  type McpUiHostContext,
} from "@modelcontextprotocol/ext-apps";
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { toFileName } from "../download.js";
import { setPagePolicy } from "../page-policy.js";
import { defineElements } from "../registry.js";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { baseStyles, themeTokens } from "../theme.js";
import { dataAddress } from "../viewer/artifact-reader.js";
import { PreviewProblem } from "../viewer/preview.js";
import "../viewer.js";
import { HostArtifact } from "./host-artifact.js";
import { pdfPages } from "./pdf-pages.js";

/** Bytes that are handed to a host as one message. */
const MOST_SAVED = 128 * 1024 ** 2;
/** Pixels of height that are left for a viewer in a page that may grow, and of what is around it. */
const HEIGHT = 560;
const AROUND = 64;

/** What is shown: what is waited for, an artifact, or a sentence. */
type Stage =
  | { readonly kind: "waiting" }
  | { readonly kind: "shown"; readonly artifact: HostArtifact }
  | { readonly kind: "sentence"; readonly sentence: string; readonly retry?: () => void };

/** The artifact of a tool call. */
export class SluiceArtifactApp extends LitElement {
  /** @hidden */
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      :host {
        /* Fonts of the host; colours stay ours, whose contrast is known in both themes. */
        --sluice-font: var(--font-sans);
        --sluice-font-code: var(--font-mono);
        background: var(--surface);
        color: var(--text);
        display: block;
        font-family: var(--font);
      }
      .bar {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        padding: 8px 4px;
      }
      .uri {
        flex: 1;
        min-inline-size: 12ch;
        overflow-wrap: anywhere;
        user-select: all;
      }
      .empty {
        align-items: center;
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin: 0;
        padding: 16px;
      }
    `,
  ];

  readonly #app = new App(
    { name: "sluice-artifact", version: "1.0.0" },
    { availableDisplayModes: ["inline", "fullscreen"] },
  );
  #stage: Stage = { kind: "waiting" };
  #said = "";
  #arguments: Readonly<Record<string, unknown>> = {};

  constructor() {
    super();
    setPagePolicy({
      objectUrls: false,
      renderPdf: pdfPages(
        () => (this.#stage.kind === "shown" ? this.#stage.artifact : undefined),
        () => Number.parseInt(String(this.#arguments["pages"]), 10) || 1,
      ),
      save: (artifact, bytes, signal) => this.#save(artifact, bytes, signal),
    });
    const app = this.#app;
    app.addEventListener("toolinput", ({ arguments: given = {} }) => void (this.#arguments = given));
    app.addEventListener("toolresult", ({ content }) => void this.#open(this.#findUri(content)));
    app.addEventListener("toolcancelled", () => this.#tell("The call was cancelled, so there is nothing to show."));
    app.addEventListener("hostcontextchanged", (context) => this.#follow(context));
  }

  /** Connects to the host. */
  override connectedCallback(): void {
    super.connectedCallback();
    this.#app.connect().then(
      () => this.#follow(this.#app.getHostContext() ?? {}),
      () => this.#tell("The host did not answer, so there is nothing to show: open the artifact again."),
    );
  }

  /** Renders what there is. */
  override render(): TemplateResult {
    return html`${this.#body()}
      <p class="unseen" role="status">${this.#said}</p>`;
  }

  #body(): TemplateResult {
    const stage = this.#stage;
    if (stage.kind === "waiting") return html`<p class="empty soft" role="status">Waiting for the result…</p>`;
    if (stage.kind === "sentence") {
      return html`<p class="empty" role="alert">
        ${stage.sentence}
        ${stage.retry === undefined ? nothing : html`<button type="button" @click=${stage.retry}>Try again</button>`}
      </p>`;
    }
    const { artifact } = stage;
    return html`<sluice-viewer .artifact=${artifact.shown} .bytes=${artifact}></sluice-viewer>
      <div class="bar">
        <code class="uri">${artifact.uri}</code>
        <button type="button" @click=${() => void this.#copy(artifact.uri)}>Copy URI</button>
      </div>`;
  }

  /** The artifact that a result is about: our sentences name it first. */
  #findUri(content: readonly { readonly type: string; readonly text?: unknown }[]): string | undefined {
    const said = content.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join("\n");
    const given = this.#arguments["uri"];
    return artifactIn(said) ?? artifactIn(typeof given === "string" ? given : "");
  }

  async #open(uri: string | undefined): Promise<void> {
    if (uri === undefined) return this.#tell("This result names no artifact, so there is nothing to show.");
    this.#show({ kind: "waiting" });
    try {
      this.#show({ kind: "shown", artifact: await HostArtifact.open(this.#app, uri) });
    } catch (error) {
      const isProblem = error instanceof PreviewProblem;
      const sentence = isProblem ? error.message : "The artifact could not be read.";
      const retry = (): void => void this.#open(uri);
      this.#show({ kind: "sentence", sentence, ...((!isProblem || error.remedy === "retry") && { retry }) });
    }
  }

  /** Takes over the theme, fonts and size of the host. */
  #follow({ theme, styles, containerDimensions }: McpUiHostContext): void {
    if (theme !== undefined) applyDocumentTheme(theme);
    if (styles?.variables !== undefined) applyHostStyleVariables(styles.variables);
    if (containerDimensions === undefined) return;
    const { height, maxHeight = HEIGHT + AROUND } = containerDimensions as { height?: number; maxHeight?: number };
    const most = Math.max(240, (height ?? Math.min(maxHeight, HEIGHT + AROUND)) - AROUND);
    this.style.setProperty("--sluice-viewer-height", `${most}px`);
  }

  /** Hands a file to the host, or to the browser where the host takes none. */
  async #save(artifact: ShownArtifact, bytes: ArtifactBytes, signal: AbortSignal): Promise<boolean> {
    const size = artifact.size_bytes ?? 0;
    if (size > MOST_SAVED) {
      throw new PreviewProblem("It is too large to go through the host: have a tool write it to a file.", "none");
    }
    const stream = await bytes.open();
    if (stream === null) return false;
    const blob = await new Response(stream).blob();
    signal.throwIfAborted();
    const address = await dataAddress(blob);
    const name = toFileName(artifact);
    if (this.#app.getHostCapabilities()?.downloadFile === undefined) {
      const link = document.createElement("a");
      link.href = address.replace(/^data:[^;,]*/, "data:application/octet-stream");
      link.download = name;
      link.click();
      return true;
    }
    const resource = {
      uri: `file:///${encodeURIComponent(name)}`,
      mimeType: artifact.mime_type ?? "application/octet-stream",
      blob: address.slice(address.indexOf(",") + 1),
    };
    const { isError } = await this.#app.downloadFile({ contents: [{ type: "resource", resource }] });
    if (isError === true) throw new PreviewProblem("The host did not save the file.", "none");
    return true;
  }

  async #copy(uri: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(uri);
      this.#say("Copied");
    } catch {
      this.#select();
    }
  }

  /** Where the host keeps the clipboard to itself, the URI is selected, to be copied by hand. */
  #select(): void {
    const uri = this.renderRoot.querySelector(".uri");
    if (uri !== null) getSelection()?.selectAllChildren(uri);
    this.#say("The host blocks copying: the URI is selected, copy it by hand.");
  }

  #tell(sentence: string): void {
    this.#show({ kind: "sentence", sentence });
  }

  #show(stage: Stage): void {
    this.#stage = stage;
    this.requestUpdate();
  }

  #say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }
}

/** The first artifact that a text names. */
function artifactIn(text: string): string | undefined {
  return /artifact:\/\/[\w.-]*\w/.exec(text)?.[0];
}

defineElements({ "sluice-artifact-app": SluiceArtifactApp });

declare global {
  interface HTMLElementTagNameMap {
    "sluice-artifact-app": SluiceArtifactApp;
  }
}
