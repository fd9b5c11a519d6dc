/**
 * An editor for JSON: CodeMirror, of bounded height, in the colours of the page.
 * @module
 */
import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { baseStyles, themeTokens } from "../../../ui/theme.js";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
]);

/** `<playground-json>` */
class JsonEditor extends LitElement {
  static override properties = { value: {}, label: {}, problem: {} };
  static override styles = [
    themeTokens,
    baseStyles,
    css`
      .cm-editor {
        background: var(--surface);
        border: 1px solid var(--line-strong);
        border-radius: 6px;
        max-block-size: 420px;
        min-block-size: 200px;
      }
      .cm-editor.cm-focused {
        outline: 2px solid var(--accent);
      }
      .cm-editor .cm-scroller {
        font-family: var(--font-code);
        overflow: auto;
      }
      .cm-editor .cm-gutters {
        background: var(--surface-raised);
        border: 0;
        color: var(--text-soft);
      }
      .cm-editor .cm-cursor {
        border-color: var(--text);
      }
    `,
  ];

  declare value: string;
  declare label: string;
  declare problem: string | undefined;
  #editor: EditorView | undefined;

  constructor() {
    super();
    this.value = "";
    this.label = "";
    this.problem = undefined;
  }

  override render(): TemplateResult {
    return html`<div class="host"></div>`;
  }

  override firstUpdated(): void {
    const parent = this.renderRoot.querySelector<HTMLElement>(".host");
    if (parent === null) return;
    const told = EditorView.updateListener.of(({ docChanged, state }) => {
      const text = state.doc.toString();
      if (!docChanged || text === this.value) return;
      this.value = text;
      this.dispatchEvent(new CustomEvent("json-change", { detail: text, bubbles: true, composed: true }));
    });
    this.#editor = new EditorView({
      parent,
      root: this.renderRoot as ShadowRoot,
      state: EditorState.create({
        doc: this.value,
        extensions: [
          lineNumbers(),
          history(),
          json(),
          linter(jsonParseLinter()),
          autocompletion(),
          syntaxHighlighting(colours),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ "aria-label": this.label }),
          told,
        ],
      }),
    });
  }

  override updated(changed: PropertyValues<this>): void {
    super.updated(changed);
    const editor = this.#editor;
    if (editor === undefined || !changed.has("value")) return;
    const text = editor.state.doc.toString();
    if (text !== this.value) editor.dispatch({ changes: { from: 0, to: text.length, insert: this.value } });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#editor?.destroy();
  }
}

customElements.define("playground-json", JsonEditor);
