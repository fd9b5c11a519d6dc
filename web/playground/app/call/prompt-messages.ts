/**
 * Messages for a model, of a prompt or of a server that asks one: who says it, and a text or a card of what is stored.
 * @module
 */
import { css, type CSSResult, html, nothing, type TemplateResult } from "lit";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownPromptMessage } from "../../engine/messages.js";
import type { Actions } from "../actions.js";
import { artifactCards } from "./artifact-cards.js";

/** Styles of `messages`: the roles stand beside what they say, where there is room. */
export const messageStyles: CSSResult = css`
  .messages {
    border: 1px solid var(--line);
    border-radius: var(--radius);
    container-type: inline-size;
  }
  .message {
    display: grid;
    gap: 4px 12px;
    grid-template-columns: minmax(0, 1fr);
    padding: 12px;
  }
  .message + .message {
    border-block-start: 1px solid var(--line);
  }
  .role {
    font-size: var(--size-small);
  }
  @container (min-width: 560px) {
    .message {
      grid-template-columns: 96px minmax(0, 1fr);
    }
  }
  .message pre {
    font-family: var(--font-code);
    margin: 0;
    max-block-size: 420px;
    overflow: auto;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .address {
    overflow-wrap: anywhere;
  }
`;

/** Messages in their order, below a system prompt if there is one. */
export function promptMessages(
  actions: Actions,
  messages: readonly ShownPromptMessage[],
  systemPrompt = "",
): TemplateResult {
  return html`<ul class="messages" aria-label="Messages">
    ${systemPrompt === "" ? nothing : item("system", plainText(systemPrompt))}
    ${messages.map(({ role, content }) => {
      const { uri, mime_type } = content;
      const isJson = content.kind === "text" && mime_type === "application/json";
      const chip = isJson ? html`<span class="chip">not text</span>` : nothing;
      return item(
        role,
        html`
          ${uri === "" && !isJson ? nothing : html`<p class="soft address">${uri} ${chip}</p>`}
          ${content.kind === "text" ? plainText(content.text) : artifactCards(actions, [toShownArtifact(content)])}
        `,
      );
    })}
  </ul>`;
}

function item(role: string, said: TemplateResult): TemplateResult {
  return html`<li class="message">
    <strong class="soft role">${role}</strong>
    <div>${said}</div>
  </li>`;
}

/** A text that the keyboard scrolls. */
function plainText(text: string): TemplateResult {
  return html`<pre tabindex="0">${text}</pre>`;
}

type StoredContent = Extract<ShownPromptMessage["content"], { readonly kind: "artifact" }>;

/** The content as a card shows it. */
function toShownArtifact({ id, size_bytes, mime_type, filename, summary }: StoredContent): ShownArtifact {
  const source = { description: summary };
  return { id, size_bytes, filename, source, ...(mime_type !== null && { mime_type }) };
}
