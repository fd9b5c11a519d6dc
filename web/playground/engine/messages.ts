/**
 * The messages between the page and the engine, which runs in a worker. All of them can be cloned.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import type { UserFile } from "mcp-sluice/files";
import type {
  ListedResource,
  ListedTemplate,
  PromptReading,
  ResourceReading,
  ResultDisplay,
  TemplateVariable,
  ToolProgress,
  ToolWait,
} from "mcp-sluice/tools";
import type { PlannerPause } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ChatEnd, ChatEvent, ChatRequest, Endpoint } from "./chat/messages.js";
import type { StoredResult } from "./results.js";
import type { Keys, Shelf } from "./shelves.js";

/** An error for the user: a sentence that says what to do, and where the fault is. */
export interface Problem {
  /** For example `E_JSON_SYNTAX`; `E_CANCELLED` for a cancelled call. */
  readonly code: string;
  readonly message: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in code points. */
  readonly column?: number;
  /** A configuration key, joined by dots. */
  readonly path?: string;
}

/** A value or an error. Errors cross the worker boundary as values. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** How a server is reached; `serve` is a source of the page's server. */
type ServerKind = "demo" | "http" | "serve";

/** The address of a server. */
export interface ServerAddress {
  /** Its name in this page and the namespace of its artifacts. */
  readonly name: string;
  readonly kind: ServerKind;
  /** For a demo server, which one; empty for the first. */
  readonly url: string;
  /** A bearer token, kept in memory only. */
  readonly token?: string;
  /** Its tools read My Files by name and write their files there. */
  readonly userFiles?: boolean;
}

/** What a server says of a tool: `annotations` of MCP, which nothing proves. */
export type ToolHint = "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint";

/** A tool as a form shows it. */
export interface ShownTool {
  /** `{server}.{tool}`. */
  readonly name: string;
  /** The server's name for people, at most 200 characters. */
  readonly title?: string;
  /** The hints that the server gives as true. */
  readonly hints?: readonly ToolHint[];
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Sluice added it; the server does not know it. */
  readonly isAdded?: boolean;
}

/** A JSON-RPC message. */
export interface ShownMessage {
  /** At most its first 8 KB. */
  readonly text: string;
  /** Bytes of the whole message. */
  readonly size: number;
  /** Whether `text` is only its beginning. */
  readonly isCut: boolean;
}

/** A JSON-RPC request with its answer, or a notification. */
export interface ShownExchange {
  /** Unique, and the same each time that it is listed. */
  readonly key: string;
  readonly server: string;
  /** Whether the page sent the request; else the server did. */
  readonly isSent: boolean;
  /** Empty for what is not a request. */
  readonly method: string;
  /** JSON text; empty for notifications. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds until the answer. */
  readonly duration?: number;
  readonly state: "open" | "done" | "error" | "cancelled";
  readonly request: ShownMessage;
  readonly answer?: ShownMessage;
  /** The HTTP status. */
  readonly status?: number;
  /** Why there is no answer. */
  readonly problem?: string;
  /** The id of the page's call that it belongs to. */
  readonly call?: string;
}

/** How a server introduced itself. */
export interface ShownAbout {
  readonly name: string;
  readonly version: string;
  /** The protocol's revision, or the revisions that the server offers. */
  readonly protocol: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string;
}

/** A prompt of a server. */
export interface ShownPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of its arguments, which are texts. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A message that a prompt gives, or that a server has for a model. */
export type ShownPromptMessage = PromptReading["messages"][number];

/** The payload of a pause for a model's reply. */
export type ShownSampling = Extract<PlannerPause["payload"], { readonly pause_type: "sampling" }>;

/** The current state of a server. */
export interface ShownServer {
  readonly name: string;
  readonly kind: ServerKind;
  readonly status: "connecting" | "ready" | "failed";
  readonly problem?: Problem;
  readonly tools: readonly ShownTool[];
  readonly userFiles?: boolean;
  /** A person signed in to it. */
  readonly signsIn?: boolean;
  /** What it needs again after a reload, which the page does not remember. */
  readonly lacks?: "token" | "address" | "signIn";
}

/** A tool call. */
export interface CallRequest {
  /** The page's id of the call. */
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** How long the server may be silent, in seconds. */
  readonly timeout: number;
}

/** The progress of a call, and a message while the server is silent. */
export interface ShownProgress extends ToolProgress {
  /** Cleared by the next progress. */
  readonly wait?: ToolWait;
}

/** How a tool wants its files to be shown. */
export interface ShownDisplay extends Pick<ResultDisplay, "mode" | "category_hint" | "notification"> {
  /** The server of the tool. */
  readonly server: string;
  /** The file to open at once. */
  readonly opened?: ShownArtifact;
}

/** A result on both sides of the gate. */
export interface ShownResult {
  readonly id: string;
  /** The title of its call, or the name of the dropped file. */
  readonly title: string;
  readonly server: string;
  /** JSON text in the mcp dialect: what the server sent, with references instead of bytes. */
  readonly reduced: string;
  /** Sidecar references, where the text cannot hold them. */
  readonly refs?: string;
  /** Exactly the text that a model gets. */
  readonly observation: string;
  readonly artifacts: readonly ShownArtifact[];
  /** Resources that it links to, each with its URI as `source.uri`. */
  readonly links: readonly ShownArtifact[];
  /** Bytes of JSON that the server sent. */
  readonly bytesIn: number;
  /** Bytes of the observation. */
  readonly bytesOut: number;
  readonly isError: boolean;
  /** Whether the guardrail cut the observation. */
  readonly clamped: boolean;
  /** Messages of failed stores. */
  readonly failures: readonly string[];
  /** Set if its files are in My Files: how to show them. */
  readonly filed?: ShownDisplay;
}

/** Tokens of a result, as a model's tokenizer counts them. */
export interface CountedTokens {
  readonly sent: number;
  readonly seen: number;
  /** The tokenizer. */
  readonly by: string;
}

/** The newest version of a file in My Files. */
export interface ShownFile extends ShownArtifact {
  readonly filename: string;
  readonly stored_at: number;
  readonly origin: UserFile["origin"];
  /** The number of versions. */
  readonly versions: number;
  readonly category: string | null;
  /** From the tool that made it. */
  readonly description: string | null;
  /** Facts from its bytes, such as `1,200 rows`. */
  readonly facts: string | null;
  /** Set for a draft. */
  readonly draft: UserFile["draft"];
}

/** Storage of this browser, in bytes. */
export interface ShownSpace {
  readonly used: number;
  readonly quota: number;
}

/** The resources of a server. */
export interface ShownResources {
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
}

/** The contents of a resource. */
export interface ShownReading {
  readonly contents: ResourceReading["contents"];
  readonly artifacts: readonly ShownArtifact[];
}

/** A paused call. */
export interface ShownPause {
  readonly id: string;
  readonly server: string;
  readonly reason: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The id of the chat turn that it belongs to. */
  readonly question?: string;
}

/** Events of the engine. */
export type EngineEvent =
  | { readonly kind: "server"; readonly server: ShownServer }
  | { readonly kind: "gone"; readonly server: string }
  | { readonly kind: "progress"; readonly call: string; readonly progress: ShownProgress }
  | { readonly kind: "paused"; readonly pause: ShownPause }
  | { readonly kind: "resumed"; readonly pause: string }
  | { readonly kind: "resource_updated"; readonly server: string; readonly uri: string }
  | { readonly kind: "resources_changed"; readonly server: string }
  | { readonly kind: "files_changed" }
  | { readonly kind: "exchanged" }
  | { readonly kind: "ended" }
  | ({ readonly kind: "served" } & ServedListing)
  | { readonly kind: "session_over" }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly server: string; readonly text: string };

/** Options for `start`. */
export interface StartOptions {
  readonly keys: Partial<Keys>;
  readonly config: SluiceConfig;
  /** The redirect URI for OAuth providers. */
  readonly callback: string;
}

/** What `start` returns. */
export interface Started {
  readonly keys: Keys;
  /** Why the remembered configuration was rejected. */
  readonly problem?: Problem;
}

/** The engine as the page sees it, through Comlink. */
export interface Engine {
  /** The text that a document is converted to; null if it cannot be, or is at the page's server. */
  readText(shelf: Shelf, id: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Sets the listener for events. */
  listen(listener: (event: EngineEvent) => void): void;
  /** Opens the stores. */
  start(options: StartOptions): Promise<Outcome<Started>>;
  /** Lists a server that is connected later. The demo's example can be called before. */
  introduce(address: ServerAddress): void;
  /** Connects a server and disconnects the one with the same name. */
  connect(address: ServerAddress): Promise<Outcome<null>>;
  disconnect(server: string): Promise<void>;
  call(request: CallRequest): Promise<Outcome<ShownResult>>;
  cancel(call: string): void;
  /** Resumes or starts the session at the page's server. `isKnown` says that an earlier visit had one. */
  serve(base: string, isKnown: boolean): Promise<Outcome<ServeOffer>>;
  /** Signs the user in to a source that only the page's server connects to. */
  signIn(source: string): Promise<Outcome<null>>;
  /** Says whether the page is visible. Events of the page's server are followed only while it is. */
  watch(isSeen: boolean): void;
  /** Answers a pause; null declines. */
  answer(pause: string, value: unknown): void;
  /** Has a model write the reply that a server asks for. */
  reply(model: Endpoint, asked: ShownSampling): Promise<Outcome<string>>;
  /** Completes a sign-in with the URL that the provider redirected to. */
  callback(url: string): Promise<Outcome<null>>;
  /** Has a model answer a question with the tools of all connected servers. `tell` gets its events. */
  chat(request: ChatRequest, tell: (event: ChatEvent) => void): Promise<Outcome<ChatEnd>>;
  /** Cancels a turn of the chat, or one of its calls: `{step} {id}`. */
  stop(question: string, call?: string): void;
  /** Gates a file: JSON as the result it contains, anything else as a file that a server sent. */
  take(file: File, as: "auto" | "file"): Promise<Outcome<ShownResult>>;
  /** Sets the configuration for everything a model sees from now on. */
  configure(config: SluiceConfig): Promise<Outcome<null>>;
  /** Gates a result again, under the current configuration unless another is given. */
  again(result: string, config?: SluiceConfig): Promise<Outcome<ShownResult>>;
  /** The original JSON text of a result. */
  raw(result: string): Promise<ReadableStream<Uint8Array>>;
  /** Counts the tokens of both sides of a result. */
  tokens(result: string): Promise<Outcome<CountedTokens>>;
  /** The bytes of an artifact; null if it is gone. */
  bytes(
    shelf: Shelf,
    id: string,
    range?: { readonly start: number; readonly end?: number },
  ): Promise<ReadableStream<Uint8Array> | null>;
  /** The recorded JSON-RPC exchanges of all servers, or those of one call; newest first. Later ones are reported. */
  exchanges(call?: string): Promise<readonly ShownExchange[]>;
  /** Forgets the recorded exchanges. */
  forgetExchanges(): Promise<void>;
  /** How a server introduced itself; undefined if it is not known. */
  about(server: string): Promise<ShownAbout | undefined>;
  /** Finds out whether a server still answers, and reports its status. */
  check(server: string): Promise<void>;
  prompts(server: string): Promise<Outcome<readonly ShownPrompt[]>>;
  /** Gets a prompt with its arguments filled in. */
  prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
  ): Promise<Outcome<readonly ShownPromptMessage[]>>;
  /** A result as the engine keeps it; null if it is gone. */
  kept(result: string): Promise<StoredResult | null>;
  /** Takes back results of an earlier visit. Returns the ids of those whose artifacts are not all there. */
  adopt(results: readonly StoredResult[]): Promise<readonly string[]>;
  /** What is known of an artifact; null if it is gone. */
  find(shelf: Shelf, id: string): Promise<ShownArtifact | null>;
  resources(server: string): Promise<Outcome<ShownResources>>;
  read(server: string, uri: string): Promise<Outcome<ShownReading>>;
  subscribe(server: string, uri: string, wanted: boolean): Promise<Outcome<null>>;
  complete(server: string, template: string, variable: string, value: string): Promise<readonly string[]>;
  /** The variables of a URI template, in order. */
  variables(template: string): Promise<Outcome<readonly TemplateVariable[]>>;
  /** Expands a URI template. Empty values are written as they are. */
  expand(template: string, values: Readonly<Record<string, string>>): Promise<Outcome<string>>;
  /** The files in My Files. */
  files(): Promise<readonly ShownFile[]>;
  /** The number of files in My Files. */
  fileCount(): Promise<number>;
  /** All versions of a file, newest first. */
  versions(id: string): Promise<Outcome<readonly ShownFile[]>>;
  /** Copies an artifact to My Files. */
  save(shelf: Shelf, id: string): Promise<Outcome<ShownFile>>;
  /** Adds a file to My Files. */
  keep(file: File): Promise<Outcome<ShownFile>>;
  rename(id: string, filename: string): Promise<Outcome<null>>;
  /** Deletes an artifact or a file; false if it was already gone. */
  remove(shelf: Shelf, id: string): Promise<Outcome<boolean>>;
  space(): Promise<ShownSpace>;
  /**
   * Ends the session: disconnects and deletes what it stored here and at the page's server. Keeps My Files. `start` begins
   * another. `isByOther`: another tab has ended it, and only what this engine holds is let go.
   */
  end(isByOther: boolean): Promise<void>;
}

/** A source of tools of the page's server. */
export interface ServedSource {
  readonly name: string;
  /** Whether each user has to sign in to it. The page then asks it in its chat alone. */
  readonly asks_consent: boolean;
}

/** What the page's server offers in a session. */
export interface ServeOffer {
  /** When the session expires, in milliseconds since 1970. */
  readonly expires_at: number;
  readonly sources: readonly ServedSource[];
  /** Whether the server has a model. */
  readonly chat: boolean;
}

/** An artifact at the page's server, whose bytes are not in this browser. */
export interface ServedArtifact extends ShownArtifact {
  readonly served: true;
}

/** The artifacts of the session at the page's server. */
export interface ServedListing {
  /** Newest first. */
  readonly artifacts: readonly ServedArtifact[];
  /** Whether there are more than listed. */
  readonly hasMore: boolean;
}
