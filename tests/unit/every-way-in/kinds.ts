/**
 * Every kind of message that a server sends, beside results of calls, with something hidden in each of its places.
 * @module
 */
import type { Sayings } from "./listeners.js";

type Message = Readonly<Record<string, unknown>>;

/**
 * What becomes of bytes there: they are stored, removed, or stay; or the whole message, or the entry, does not come through.
 */
export type Guard = "stored" | "removed" | "stays" | "left out";

/** A place in a kind of message. */
export interface Kind {
  readonly name: string;
  /** The request that a client makes, if it is not a call. */
  readonly asked?: readonly [method: string, params: Message];
  /** What the server says with something hidden in it. */
  readonly say: (hidden: string) => Sayings;
  readonly guard: Guard;
  /** The name of the client, which some guards depend on. */
  readonly client?: string;
  /** Whether the place takes any JSON, so that a file may be a list of bytes in it. */
  readonly takesLists?: boolean;
  /** Whether a typed client does not take it: SDKs refuse what their schemas do not know. */
  readonly isUntyped?: boolean;
  /** Whether only base64 may stand there. */
  readonly isBase64?: boolean;
}

const CALL = { name: "give", arguments: {} };
const DONE = { content: [{ type: "text", text: "done" }] };

const failing = (error: unknown): Sayings => ({ "tools/call": { error } });
const notified = (method: string, params: unknown): Sayings => ({
  "tools/call": { before: [{ jsonrpc: "2.0", method, params }], result: DONE },
});
const requested = (method: string, params: unknown, id: unknown = "q1"): Sayings => ({
  "tools/call": { before: [{ jsonrpc: "2.0", id, method, params }], result: DONE },
});
const introduced = (more: Message): Sayings => ({
  initialize: {
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} },
      serverInfo: { name: "saying", version: "1.0.0" },
      ...more,
    },
  },
});
const sampled = (content: unknown, more: Message = {}): Sayings =>
  requested("sampling/createMessage", { messages: [{ role: "user", content }], maxTokens: 10, ...more });
const listed = (method: string, list: string, ...entries: readonly Message[]): Sayings => ({
  [method]: { result: { [list]: entries } },
});
const tool = (more: Message): Sayings =>
  listed("tools/list", "tools", { name: "give", inputSchema: { type: "object" }, ...more });
const prompted = (content: unknown, more: Message = {}): Sayings => ({
  "prompts/get": { result: { messages: [{ role: "user", content }], ...more } },
});

const PROMPT = ["prompts/get", { name: "p" }] as const;
const READ = ["resources/read", { uri: "suite:///file" }] as const;
const TOOLS = ["tools/list", {}] as const;
const TASK = {
  taskId: "t1",
  status: "working",
  createdAt: "2026-11-30T00:00:00Z",
  lastUpdatedAt: "2026-11-30T00:00:00Z",
  ttl: 1000,
};
const READS_META = "@cline/core";
const READS_RESOURCES = "codex-mcp-client";

const ERRORS: readonly Kind[] = [
  {
    name: "error, message",
    guard: "stored",
    say: (hidden) => failing({ code: -32000, message: `It failed: ${hidden}` }),
  },
  {
    name: "error, data",
    guard: "stored",
    takesLists: true,
    say: (data) => failing({ code: -32000, message: "It failed.", data }),
  },
  {
    name: "error, inside data",
    guard: "stored",
    takesLists: true,
    say: (page) => failing({ code: -32000, message: "It failed.", data: { tried: [{ status: 500, page }] } }),
  },
  {
    name: "error, a name in data",
    guard: "removed",
    say: (hidden) => failing({ code: -32000, message: "It failed.", data: { [hidden]: 1 } }),
  },
  {
    name: "error of a prompt",
    guard: "stored",
    asked: PROMPT,
    say: (hidden) => ({ "prompts/get": { error: { code: -32602, message: hidden } } }),
  },
  {
    name: "error of a resource",
    guard: "stored",
    asked: READ,
    say: (uri) => ({ "resources/read": { error: { code: -32002, message: "Not found.", data: { why: uri } } } }),
  },
  {
    name: "error of a list",
    guard: "stored",
    asked: TOOLS,
    say: (hidden) => ({ "tools/list": { error: { code: -32603, message: hidden } } }),
  },
  {
    name: "error of an unknown method",
    guard: "stored",
    asked: ["suite/unknown", {}],
    say: (hidden) => ({ "suite/unknown": { error: { code: -32601, message: hidden } } }),
  },
];

const PROMPTS: readonly Kind[] = [
  { name: "prompt, text", guard: "stored", asked: PROMPT, say: (text) => prompted({ type: "text", text }) },
  {
    name: "prompt, description",
    guard: "stored",
    asked: PROMPT,
    say: (description) => prompted({ type: "text", text: "" }, { description }),
  },
  {
    name: "prompt, file in a resource",
    guard: "stored",
    asked: PROMPT,
    isBase64: true,
    say: (blob) =>
      prompted({ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob } }),
  },
  {
    name: "prompt, text of a resource",
    guard: "stored",
    asked: PROMPT,
    say: (text) => prompted({ type: "resource", resource: { uri: "file:///a.txt", text } }),
  },
  {
    name: "prompt, image",
    guard: "stays",
    asked: PROMPT,
    isBase64: true,
    say: (data) => prompted({ type: "image", mimeType: "image/png", data }),
  },
];

const READS: readonly Kind[] = [
  {
    name: "resource, for an application",
    guard: "stays",
    asked: READ,
    isBase64: true,
    say: (blob) => ({ "resources/read": { result: { contents: [{ uri: "suite:///file", blob }] } } }),
  },
  {
    name: "resource, for a model",
    guard: "stored",
    asked: READ,
    client: READS_RESOURCES,
    isBase64: true,
    say: (blob) => ({ "resources/read": { result: { contents: [{ uri: "suite:///file", blob }] } } }),
  },
  {
    name: "text of a resource, for a model",
    guard: "stored",
    asked: READ,
    client: READS_RESOURCES,
    say: (text) => ({ "resources/read": { result: { contents: [{ uri: "suite:///file", text }] } } }),
  },
  {
    name: "resource of an app",
    guard: "stays",
    asked: ["resources/read", { uri: "ui://saying/page" }],
    say: (text) => ({ "resources/read": { result: { contents: [{ uri: "ui://saying/page", text }] } } }),
  },
];

const RESULTS: readonly Kind[] = [
  {
    name: "_meta of a result",
    guard: "stays",
    say: (value) => ({ "tools/call": { result: { ...DONE, _meta: { widget: { value } } } } }),
  },
  {
    name: "_meta of a result, read by a model",
    guard: "stored",
    client: READS_META,
    say: (value) => ({ "tools/call": { result: { ...DONE, _meta: { widget: { value } } } } }),
  },
  {
    name: "question in a result",
    guard: "stored",
    say: (message) => ({
      "tools/call": {
        result: {
          resultType: "input_required",
          inputRequests: { ask: { method: "elicitation/create", params: { message, requestedSchema: {} } } },
        },
      },
    }),
  },
  {
    name: "state of a task",
    guard: "stored",
    asked: ["tasks/get", { taskId: "t1" }],
    say: (statusMessage) => ({ "tasks/get": { result: { ...TASK, statusMessage } } }),
  },
  {
    name: "result of a task",
    guard: "stored",
    asked: ["tasks/result", { taskId: "t1" }],
    say: (text) => ({ "tasks/result": { result: { content: [{ type: "text", text }] } } }),
  },
  {
    name: "result in the state of a task",
    guard: "stored",
    asked: ["tasks/get", { taskId: "t1" }],
    say: (text) => ({
      "tasks/get": { result: { ...TASK, status: "completed", result: { content: [{ type: "text", text }] } } },
    }),
  },
  {
    name: "list of tasks",
    guard: "stored",
    asked: ["tasks/list", {}],
    say: (statusMessage) => listed("tasks/list", "tasks", { ...TASK, statusMessage }),
  },
];

const UNASKED: readonly Kind[] = [
  {
    name: "progress",
    guard: "stored",
    asked: ["tools/call", { ...CALL, _meta: { progressToken: 1 } }],
    say: (message) => notified("notifications/progress", { progressToken: 1, progress: 1, message }),
  },
  {
    name: "log, text",
    guard: "stored",
    say: (data) => notified("notifications/message", { level: "info", data }),
  },
  {
    name: "log, value",
    guard: "stored",
    takesLists: true,
    say: (page) => notified("notifications/message", { level: "info", data: { request: 7, page } }),
  },
  {
    name: "log, name of the logger",
    guard: "stored",
    say: (logger) => notified("notifications/message", { level: "info", logger, data: "a" }),
  },
  {
    name: "log, a name in a value",
    guard: "removed",
    say: (hidden) => notified("notifications/message", { level: "info", data: { [hidden]: { a: 1 } } }),
  },
  {
    name: "state of a task, told",
    guard: "stored",
    isUntyped: true,
    say: (statusMessage) => notified("notifications/tasks/status", { ...TASK, statusMessage }),
  },
  {
    name: "channel of Claude Code",
    guard: "stored",
    isUntyped: true,
    say: (content) => notified("notifications/claude/channel", { content, meta: {} }),
  },
  { name: "sampling, text", guard: "stored", say: (text) => sampled({ type: "text", text }) },
  {
    name: "sampling, system prompt",
    guard: "stored",
    say: (systemPrompt) => sampled({ type: "text", text: "" }, { systemPrompt }),
  },
  {
    name: "sampling, image",
    guard: "stays",
    isBase64: true,
    say: (data) => sampled({ type: "image", mimeType: "image/png", data }),
  },
  {
    name: "sampling, sound among others",
    guard: "stays",
    isBase64: true,
    isUntyped: true,
    say: (data) =>
      sampled([
        { type: "text", text: "a" },
        { type: "audio", mimeType: "audio/wav", data },
      ]),
  },
  {
    name: "sampling, result of a tool",
    guard: "stored",
    isUntyped: true,
    say: (text) => sampled({ type: "tool_result", toolUseId: "u1", content: [{ type: "text", text }] }),
  },
  {
    name: "sampling, arguments of a tool",
    guard: "stored",
    isUntyped: true,
    say: (file) => sampled({ type: "tool_use", id: "u1", name: "t", input: { file } }),
  },
  {
    name: "elicitation, message",
    guard: "stored",
    say: (message) => requested("elicitation/create", { message, requestedSchema: { type: "object", properties: {} } }),
  },
  {
    name: "elicitation, schema",
    guard: "stored",
    say: (description) =>
      requested("elicitation/create", {
        message: "?",
        requestedSchema: { type: "object", properties: { a: { type: "string", description } } },
      }),
  },
  {
    name: "id of a request",
    guard: "left out",
    isUntyped: true,
    say: (id) => requested("elicitation/create", { message: "?", requestedSchema: {} }, id),
  },
  { name: "name of a method", guard: "left out", isUntyped: true, say: (method) => notified(method, {}) },
];

const LISTS: readonly Kind[] = [
  { name: "instructions", guard: "removed", say: (instructions) => introduced({ instructions }) },
  {
    name: "name of the server",
    guard: "removed",
    say: (title) => introduced({ serverInfo: { name: "saying", version: "1", title } }),
  },
  { name: "tool, description", guard: "removed", asked: TOOLS, say: (description) => tool({ description }) },
  { name: "tool, title", guard: "removed", asked: TOOLS, say: (title) => tool({ title, annotations: { title } }) },
  {
    name: "tool, schema",
    guard: "removed",
    asked: TOOLS,
    say: (description) =>
      tool({
        inputSchema: { type: "object", properties: { a: { type: "string", description, examples: [description] } } },
      }),
  },
  {
    name: "tool, name of an argument",
    guard: "removed",
    asked: TOOLS,
    say: (name) => tool({ inputSchema: { type: "object", properties: { [name]: { type: "string" } } } }),
  },
  {
    name: "tool, name",
    guard: "left out",
    asked: TOOLS,
    say: (name) => listed("tools/list", "tools", { name, inputSchema: { type: "object" } }),
  },
  {
    name: "tool, icon",
    guard: "stays",
    asked: TOOLS,
    isBase64: true,
    say: (data) => tool({ icons: [{ src: `data:image/png;base64,${data}` }] }),
  },
  {
    name: "prompt, listed",
    guard: "removed",
    asked: ["prompts/list", {}],
    say: (description) =>
      listed("prompts/list", "prompts", { name: "p", description, arguments: [{ name: "a", description }] }),
  },
  {
    name: "resource, listed",
    guard: "removed",
    asked: ["resources/list", {}],
    say: (name) => listed("resources/list", "resources", { uri: "suite:///a", name, description: name }),
  },
  {
    name: "resource, at a data: URI",
    guard: "removed",
    asked: ["resources/list", {}],
    isBase64: true,
    say: (data) => listed("resources/list", "resources", { uri: `data:application/pdf;base64,${data}`, name: "a" }),
  },
  {
    name: "template, listed",
    guard: "removed",
    asked: ["resources/templates/list", {}],
    say: (description) =>
      listed("resources/templates/list", "resourceTemplates", { uriTemplate: "suite:///{a}", name: "a", description }),
  },
];

/** All of them. */
export const KINDS: readonly Kind[] = [...ERRORS, ...PROMPTS, ...READS, ...RESULTS, ...UNASKED, ...LISTS];

/** The request that brings a kind of message. */
export function requestFor({ asked = ["tools/call", CALL] }: Kind): readonly [string, Message] {
  return asked;
}
