/**
 * What the page and the engine, which works in a worker, say to each other. All of it can be cloned.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import type { Draft, FileOrigin, ResultDisplay } from "mcp-sluice/files";
import type {
  ListedResource,
  ListedTemplate,
  ResourceContent,
  TemplateVariable,
  ToolProgress,
  ToolWait,
} from "mcp-sluice/tools";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ChatEnd, ChatEvent, ChatRequest } from "./chat/contract.js";
import type { ServedListing, ServeOffer } from "./serve/contract.js";
import type { Keys, Shelf } from "./shelves.js";

/** Something went wrong, for people: a sentence that says what to do, and where it is. */
export interface Problem {
  /** e.g. `E_JSON_SYNTAX`; `E_CANCELLED` for what a person gave up. */
  readonly code: string;
  readonly message: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in code points. */
  readonly column?: number;
  /** A key of the configuration. */
  readonly path?: string;
}

/** What came of asking. Errors cross a worker's border as values. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** How a server is reached; `serve` is a source of the server that the page comes from. */
export type ServerKind = "demo" | "http" | "serve";

/** A server that a person chose. */
export interface ServerAddress {
  /** Its name here: the namespace of its artifacts. */
  readonly name: string;
  readonly kind: ServerKind;
  /** Empty for the demo, or which of the demos it is. */
  readonly url: string;
  /** A bearer token, kept in memory alone. */
  readonly token?: string;
  /** Its tools are given files of My Files by their names, and what they make is kept there. */
  readonly userFiles?: boolean;
}

/** A tool as a form shows it. */
export interface ShownTool {
  /** `{server}.{tool}`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A server as it is at the moment. */
export interface ShownServer {
  readonly name: string;
  readonly kind: ServerKind;
  readonly status: "connecting" | "ready" | "failed";
  readonly problem?: Problem;
  readonly tools: readonly ShownTool[];
  readonly userFiles?: boolean;
}

/** A call to make. */
export interface CallRequest {
  /** The page's own name of the call. */
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Seconds that the server may be silent. */
  readonly timeout: number;
}

/** How far a call is, and what a person is told while nothing comes. */
export interface ShownProgress extends ToolProgress {
  /** Gone with the next progress. */
  readonly wait?: ToolWait;
}

/** What a tool would have the viewer do with the files that it made. */
export interface ShownDisplay extends Pick<ResultDisplay, "mode" | "category_hint" | "notification"> {
  /** Whose tool it is. */
  readonly server: string;
  /** What is to be opened at once. */
  readonly opened?: ShownArtifact;
}

/** A result on both sides of the gate. */
export interface ShownResult {
  readonly id: string;
  /** Of the call that it answers, or the name of what was dropped. */
  readonly title: string;
  readonly server: string;
  /** JSON text in the mcp dialect: what the server sent, with references in the place of bytes. */
  readonly reduced: string;
  /** What was done to it, where the text cannot say so itself. */
  readonly refs?: string;
  /** Exactly what a model gets. */
  readonly observation: string;
  readonly artifacts: readonly ShownArtifact[];
  /** Resources that it names and does not hold, each with its URI as `source.uri`. */
  readonly links: readonly ShownArtifact[];
  /** Bytes of JSON that came. */
  readonly bytesIn: number;
  /** Bytes of the observation. */
  readonly bytesOut: number;
  readonly isError: boolean;
  /** Whether the guardrail cut the observation. */
  readonly clamped: boolean;
  /** Sentences of what the store failed at. */
  readonly failures: readonly string[];
  /** Its files are in My Files; what it would have done with them. */
  readonly filed?: ShownDisplay;
}

/** A file in My Files, as its newest version is. */
export interface ShownFile extends ShownArtifact {
  readonly filename: string;
  readonly stored_at: number;
  readonly origin: FileOrigin;
  /** How many there are. */
  readonly versions: number;
  /** What it is filed under. */
  readonly category: string | null;
  /** What a tool says of it. */
  readonly description: string | null;
  /** What the bytes tell of themselves, such as `1,200 rows`. */
  readonly facts: string | null;
  /** Of a file that is not done yet. */
  readonly draft: Draft | null;
}

/** What a browser grants, in bytes. */
export interface ShownSpace {
  readonly used: number;
  readonly quota: number;
}

/** What a server has to read. */
export interface ShownResources {
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedTemplate[];
}

/** What was read of a resource. */
export interface ShownReading {
  readonly contents: readonly ResourceContent[];
  readonly artifacts: readonly ShownArtifact[];
}

/** A call waits for a person. */
export interface ShownPause {
  readonly id: string;
  readonly server: string;
  readonly reason: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The question of the chat that it is for: it is shown there. */
  readonly question?: string;
}

/** What the engine tells without being asked. */
export type EngineEvent =
  | { readonly kind: "server"; readonly server: ShownServer }
  | { readonly kind: "gone"; readonly server: string }
  | { readonly kind: "progress"; readonly call: string; readonly progress: ShownProgress }
  | { readonly kind: "paused"; readonly pause: ShownPause }
  | { readonly kind: "resumed"; readonly pause: string }
  | { readonly kind: "resource_updated"; readonly server: string; readonly uri: string }
  | { readonly kind: "resources_changed"; readonly server: string }
  | { readonly kind: "files_changed" }
  | { readonly kind: "ended" }
  | ({ readonly kind: "served" } & ServedListing)
  | { readonly kind: "session_over" }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly server: string; readonly text: string };

/** What the page remembers of earlier visits. */
export interface StartTerms {
  readonly keys: Partial<Keys>;
  readonly config: SluiceConfig;
  /** Where a provider sends people back to. */
  readonly callback: string;
}

/** What there is to begin with. */
export interface Started {
  readonly keys: Keys;
  /** Why the remembered configuration is not used. */
  readonly problem?: Problem;
}

/** The engine as the page sees it, through Comlink. */
export interface Engine {
  /** Is told of everything from now on. */
  listen(listener: (event: EngineEvent) => void): void;
  /** Opens the stores. */
  start(terms: StartTerms): Promise<Outcome<Started>>;
  /** Connects; a server of the same name is left before. */
  connect(address: ServerAddress): Promise<Outcome<null>>;
  disconnect(server: string): Promise<void>;
  call(request: CallRequest): Promise<Outcome<ShownResult>>;
  cancel(call: string): void;
  /** Goes on with the session at the server that the page comes from where one is known, or begins one. */
  serve(base: string, isKnown: boolean): Promise<Outcome<ServeOffer>>;
  /** Has that server connect a source of its own to which a person gives access. */
  signIn(source: string): Promise<Outcome<null>>;
  /** Whether somebody looks at the page: what the session stores at the server is told as long as they do. */
  watch(isSeen: boolean): void;
  /** Answers a pause; null declines. */
  answer(pause: string, value: unknown): void;
  /** Where a provider sent a person back to. */
  callback(url: string): Promise<Outcome<null>>;
  /** Has a model answer, which may call the tools of all servers that are connected; tells what happens meanwhile. */
  chat(request: ChatRequest, tell: (event: ChatEvent) => void): Promise<Outcome<ChatEnd>>;
  /** Gives up a question of the chat, or one of its calls: `{step} {id}`. */
  stop(question: string, call?: string): void;
  /** Gates a file: a JSON text as what it says, anything else as a server would send it. */
  take(file: File, as: "auto" | "file"): Promise<Outcome<ShownResult>>;
  /** What a model sees is decided by this from now on. */
  configure(config: SluiceConfig): Promise<Outcome<null>>;
  /** Gates a result anew, by the configuration of now. */
  again(result: string): Promise<Outcome<ShownResult>>;
  /** The original of a result. */
  raw(result: string): Promise<ReadableStream<Uint8Array>>;
  /** Bytes of an artifact; null when it is gone. */
  bytes(
    shelf: Shelf,
    id: string,
    range?: { readonly start: number; readonly end?: number },
  ): Promise<ReadableStream<Uint8Array> | null>;
  resources(server: string): Promise<Outcome<ShownResources>>;
  read(server: string, uri: string): Promise<Outcome<ShownReading>>;
  subscribe(server: string, uri: string, wanted: boolean): Promise<Outcome<null>>;
  complete(server: string, template: string, variable: string, value: string): Promise<readonly string[]>;
  /** The variables of a template of URIs, in their order. */
  variables(template: string): Promise<Outcome<readonly TemplateVariable[]>>;
  /** The URI that a template and values make; an empty value is written as it is. */
  expand(template: string, values: Readonly<Record<string, string>>): Promise<Outcome<string>>;
  /** My Files, by name. */
  files(): Promise<readonly ShownFile[]>;
  /** How many there are. */
  fileCount(): Promise<number>;
  /** Every version of a file, the newest first. */
  versions(id: string): Promise<Outcome<readonly ShownFile[]>>;
  /** Keeps an artifact of the session in My Files. */
  save(shelf: Shelf, id: string): Promise<Outcome<ShownFile>>;
  /** Puts a file into My Files as it is. */
  keep(file: File): Promise<Outcome<ShownFile>>;
  rename(id: string, filename: string): Promise<Outcome<null>>;
  /** Deletes an artifact of the session, or a file; false when it was gone already. */
  remove(shelf: Shelf, id: string): Promise<Outcome<boolean>>;
  space(): Promise<ShownSpace>;
  /** Deletes all that the session stored, here and at the server that the page comes from, and disconnects. My Files stay. */
  end(): Promise<void>;
}
