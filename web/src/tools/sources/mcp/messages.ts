/**
 * Messages that a server has for a model, of a prompt or to be answered: each content behind the gate, as a text or an
 * artifact.
 * @module
 */
import type { ArtifactStore } from "../../../artifacts/store.js";
import type { Sluice } from "../../../core/types.js";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import type { MessageReading, PromptMessage } from "../../source-features.js";
import { through } from "../gated.js";
import { readContents } from "./read-contents.js";

/** What messages are read with. */
export interface MessageDeps {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  /** Prefix of artifact ids. */
  readonly namespace: string;
}

/** A message as MCP has it. A message to a model may have several contents. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: unknown;
}

/** Returns a message for each content. Throws what reading the contents throws. */
export async function readMessages(
  messages: readonly Message[],
  reading: MessageReading,
  { sluice, store, namespace }: MessageDeps,
): Promise<readonly PromptMessage[]> {
  const said = messages.flatMap(({ role, content }) => [content].flat().map((each) => ({ role, content: each })));
  const held = { contents: said.map(({ content }) => toResource(objectOr(content))) };
  const { scope, signal } = reading;
  const options = { namespace, scope, signal, dialect: "mcp" } as const;
  await using gated = await through(sluice, options, [JSON.stringify(held)]);
  const reduced = await gated.answer();
  const { contents } = await readContents(reduced, { ...reading, namespace }, { sluice, store }, held);
  return contents.map((content, at) => ({ role: said[at]?.role ?? "user", content }));
}

/** A content as that of a resource, which the gate knows. What has neither text nor bytes is its JSON. */
function toResource(content: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type, text, data, mimeType, resource } = content;
  if (type === "text") return { uri: "", text };
  if (type === "image" || type === "audio") return { uri: "", mimeType, blob: data };
  if (type === "resource") return objectOr(resource);
  return { uri: stringOr(content["uri"]) ?? "", mimeType: "application/json", text: JSON.stringify(content) };
}
