/**
 * What sources of MCP servers are made of.
 * @module
 */
import type { Transport } from "@modelcontextprotocol/client";
import type { ArtifactStore } from "../../../artifacts/store.js";
import type { Sluice } from "../../../core/sluice.js";

/** The protocol's eras: with `initialize`, up to 2025-11-25, and without sessions, from 2026-07-28; or whichever it is. */
export type McpEra = "auto" | "legacy" | "modern";

/** What all sources of MCP servers need. */
export interface McpTerms {
  /** The source's name: for errors, and as prefix of artifacts' ids. */
  readonly name: string;
  /** The one gate. */
  readonly sluice: Sluice;
  /** That of the sluice. */
  readonly store: ArtifactStore;
  /** Whether small images stay in place for a model that sees; false when left out. */
  readonly showImages?: boolean;
  /** Who the server is told that it talks to. */
  readonly client?: { readonly name: string; readonly version: string };
  /** `auto` when left out: the later one, where the server knows it. */
  readonly era?: McpEra;
}

/** A transport, and what there is to it. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** Ends what outlives the transport: a session at the server. */
  readonly leave?: () => Promise<void>;
  /** Ends the program behind it with all that it started, whatever it is doing. */
  readonly kill?: () => Promise<void>;
  /** Whether the server has forgotten the connection, which the client does not know. */
  readonly isLost?: () => boolean;
  /** What the transport knows of a failure better than the client does. */
  readonly reason?: () => Error | undefined;
}
