/**
 * What a page shows: the result in view, what the library makes of it in this process, and everything else.
 * @module
 */
import type { Page } from "playwright-core";
import { createSluice, MemoryArtifactStore, type ArtifactRef, type SluiceConfig } from "../../dist/index.js";

/** A result in view: what the engine says of it, and its original. */
export interface InView {
  readonly tool: string;
  readonly server: string;
  readonly observation: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly artifacts: readonly ArtifactRef[];
  /** JSON text, as the server sent it. */
  readonly original: string;
}

/** What the page itself is given of the result in view, and the original that "Raw" shows. */
export async function inView(page: Page): Promise<InView> {
  return page.evaluate(async () => {
    const { store, actions } = document.querySelector("sluice-playground") as unknown as Innards;
    const { result, tool } = store.state.calls.find(({ id }) => id === store.state.call) ?? {};
    if (result === undefined || tool === undefined) throw new Error("There is no result in view.");
    const { id, server, observation, bytesIn, bytesOut, artifacts } = result;
    const original = await new Response(await actions.raw(id)).text();
    return { tool: tool.slice(tool.indexOf(".") + 1), server, observation, bytesIn, bytesOut, artifacts, original };
  });
}

/** What the library makes of the same JSON text for a model, in this process. */
export async function gated(
  { original, tool, server }: Pick<InView, "original" | "tool" | "server">,
  config: SluiceConfig = {},
): Promise<string> {
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
  const scope = { user_id: "ada", session_id: "s1" };
  await using stream = sluice.open({ tool, namespace: server, scope, dialect: "observation" });
  await stream.write(new TextEncoder().encode(original));
  return (await stream.close()).text;
}

/** What is used of the page's own objects. */
interface Innards {
  readonly store: {
    readonly state: {
      readonly call: string | undefined;
      readonly calls: readonly {
        readonly id: string;
        readonly tool: string;
        readonly result?: Omit<InView, "original" | "tool"> & { readonly id: string };
      }[];
    };
  };
  readonly actions: { raw(result: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> };
}

/** Everything that is in the document, shadow roots and what is written in fields included. */
export async function everything(page: Page): Promise<string> {
  return page.evaluate(() => {
    const parts: string[] = [];
    const look = (root: ParentNode): void => {
      for (const element of root.querySelectorAll("*")) {
        for (const { value } of element.attributes) parts.push(value);
        if ("value" in element) parts.push(String(element.value));
        for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) parts.push(String(node.nodeValue));
        if (element.shadowRoot !== null) look(element.shadowRoot);
      }
    };
    look(document);
    return parts.join("\n");
  });
}
