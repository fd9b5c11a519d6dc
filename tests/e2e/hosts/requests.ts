/**
 * What stands in a request to a model, in one form for all APIs: the tools on offer, and what follows a call.
 * @module
 */
import { imageSize } from "image-size";
import type { ModelApi } from "./model-apis.js";

/** A picture, a document or a recording that a model gets as such. */
export interface Media {
  readonly kind: "image" | "document" | "audio";
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** It stands in a message of the role `tool`: Chat Completions take nothing but words there. */
  readonly isInToolMessage?: true;
}

/** A piece of what a model gets. */
export type Part = { readonly kind: "text"; readonly text: string } | Media;

/** A tool that a host offers. */
export interface OfferedTool {
  readonly name: string;
  /** Responses: tools may be grouped. */
  readonly namespace?: string;
  /** Its definition, as JSON text. */
  readonly definition: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const stringIn = (value: unknown): string => (typeof value === "string" ? value : "");

const parse = (prompt: string): Json => JSON.parse(prompt) as Json;

/** The tools of a request. Those that a search found, or that a message loads later, count too. */
export function listTools(prompt: string): readonly OfferedTool[] {
  const body = parse(prompt);
  const found = listIn(body["input"]).flatMap((item) => (isObject(item) ? listIn(item["tools"]) : []));
  return [...listIn(body["tools"]), ...found].flatMap((tool) => readTool(tool));
}

function readTool(tool: unknown, namespace?: string): readonly OfferedTool[] {
  if (!isObject(tool)) return [];
  const declared = tool["functionDeclarations"] ?? (tool["type"] === "namespace" ? tool["tools"] : undefined);
  const group = tool["type"] === "namespace" ? stringIn(tool["name"]) : undefined;
  if (declared !== undefined) return listIn(declared).flatMap((each) => readTool(each, group));
  const named = isObject(tool["function"]) ? tool["function"] : tool;
  const name = stringIn(named["name"]) || stringIn(named["type"]);
  return [{ name, ...(namespace !== undefined && { namespace }), definition: JSON.stringify(tool) }];
}

/** The JSON Schema that a request wants its answer in. */
export function readSchema(prompt: string): object | undefined {
  const body = parse(prompt);
  const { responseJsonSchema, responseSchema } = isObject(body["generationConfig"]) ? body["generationConfig"] : {};
  const { json_schema: named } = isObject(body["response_format"]) ? body["response_format"] : {};
  const schema = responseJsonSchema ?? responseSchema ?? (isObject(named) ? named["schema"] : undefined);
  return isObject(schema) ? schema : undefined;
}

/** The least value of a JSON Schema: zero, nothing, no. */
export function fillSchema(schema: unknown): unknown {
  const { type, properties, enum: values } = isObject(schema) ? schema : {};
  if (Array.isArray(values)) return values[0];
  const kind = stringIn(type).toLowerCase();
  if (kind === "number" || kind === "integer") return 0;
  if (kind === "boolean") return false;
  if (kind === "array") return [];
  if (!isObject(properties)) return kind === "object" ? {} : "";
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, fillSchema(each)]));
}

/** The items of a conversation, oldest first. */
function listItems(body: Json): readonly Json[] {
  return listIn(body["messages"] ?? body["input"] ?? body["contents"]).filter(isObject);
}

/** Whether an item is a call that the model made: of this id, if the API hands ids back. */
function isCall(item: Json, id: string): boolean {
  const calls = [item, ...listIn(item["content"]), ...listIn(item["tool_calls"]), ...listIn(item["parts"])].filter(
    isObject,
  );
  return calls.some((call) => {
    const type = stringIn(call["type"]);
    if (isObject(call["functionCall"])) return true;
    if (type === "tool_use" || type === "function") return call["id"] === id;
    return /^(?:function|custom_tool|tool_search)_call$/.test(type) && call["call_id"] === id;
  });
}

/** What a request has after a call; undefined if the call is not in it. */
export function readAfter(prompt: string, callId: string): readonly Part[] | undefined {
  const items = listItems(parse(prompt));
  const at = items.findLastIndex((item) => isCall(item, callId));
  return at < 0 ? undefined : items.slice(at + 1).flatMap((item) => readMessage(item));
}

function readMessage(item: Json): readonly Part[] {
  const parts = readParts(item);
  if (item["role"] !== "tool") return parts;
  return parts.map((part) => (part.kind === "text" ? part : { ...part, isInToolMessage: true }));
}

/** The parts of a block, a message or a list of them, in the forms of all APIs. */
export function readParts(value: unknown): readonly Part[] {
  if (typeof value === "string") return value === "" ? [] : [{ kind: "text", text: value }];
  if (Array.isArray(value)) return value.flatMap((each) => readParts(each));
  if (!isObject(value)) return [];
  return readMedia(value) ?? readNested(value) ?? [{ kind: "text", text: JSON.stringify(value) }];
}

function readNested(value: Json): readonly Part[] | undefined {
  if (value["functionResponse"] !== undefined) return readResponse(value["functionResponse"]);
  if (value["type"] === "tool_reference") return [];
  for (const key of ["text", "content", "output", "parts", "tools"]) {
    if (value[key] !== undefined && value[key] !== null) return readParts(value[key]);
  }
  return undefined;
}

/** Gemini: `response` is an object, which mostly has the words alone in `output`. */
function readResponse(value: unknown): readonly Part[] {
  const { response, parts } = isObject(value) ? value : {};
  const keys = isObject(response) ? Object.keys(response) : [];
  const words =
    isObject(response) && keys.length === 1 && typeof response["output"] === "string" ? response["output"] : undefined;
  return [...readParts(words ?? (response === undefined ? "" : JSON.stringify(response))), ...readParts(parts)];
}

/** A picture, document or recording in the form of any API. */
function readMedia(value: Json): readonly Part[] | undefined {
  const { source, image_url: image, file, input_audio: audio, inlineData, inline_data: inline } = value;
  if (isObject(source) && source["type"] === "base64")
    return [makeMedia(stringIn(source["media_type"]), source["data"])];
  if (isObject(source) && typeof source["data"] === "string") return readParts(source["data"]);
  if (image !== undefined) return readUrl(isObject(image) ? image["url"] : image);
  if (isObject(file)) return readUrl(file["file_data"]);
  if (value["file_data"] !== undefined) return readUrl(value["file_data"]);
  if (isObject(audio)) return [makeMedia(`audio/${stringIn(audio["format"])}`, audio["data"])];
  const data = inlineData ?? inline;
  if (isObject(data)) return [makeMedia(stringIn(data["mimeType"] ?? data["mime_type"]), data["data"])];
  return undefined;
}

function readUrl(url: unknown): readonly Part[] {
  const [, mimeType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(stringIn(url)) ?? [];
  return data === undefined ? readParts(url) : [makeMedia(mimeType ?? "", data)];
}

function makeMedia(mimeType: string, data: unknown): Part {
  const [family = ""] = mimeType.split("/");
  const kind = family === "image" || family === "audio" ? family : "document";
  return { kind, mimeType, bytes: Buffer.from(stringIn(data), "base64") };
}

/** Why a model's API would refuse a picture; undefined if it would not. */
export function refusePicture(api: ModelApi, media: Omit<Media, "kind">): string | undefined {
  const { mimeType, bytes, isInToolMessage } = media;
  if (isInToolMessage === true) return "in a message of a tool";
  const size = isWhole(bytes) ? measurePicture(bytes) : undefined;
  if (size === undefined) return "not whole";
  if (size.mimeType !== mimeType) return `${size.mimeType}, called ${mimeType}`;
  if (api !== "messages") return undefined;
  if (Math.max(size.width, size.height) > ANTHROPIC_SIDE) return `${size.width} × ${size.height}`;
  return bytes.length * (4 / 3) > ANTHROPIC_BYTES ? `${bytes.length} bytes` : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
  gif: "image/gif",
};

function measurePicture(bytes: Buffer): { width: number; height: number; mimeType: string } | undefined {
  try {
    const { width, height, type = "" } = imageSize(bytes);
    return { width, height, mimeType: TYPES[type] ?? type };
  } catch {
    return undefined;
  }
}

/** Whether a picture has its end: PNG and JPEG have marks, the others a length. */
function isWhole(bytes: Buffer): boolean {
  if (bytes.subarray(1, 4).toString("latin1") === "PNG") return bytes.subarray(-12).includes("IEND");
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return bytes.subarray(-2).equals(Buffer.from([0xff, 0xd9]));
  return true;
}

/** Limits of Anthropic's API: pixels of the longer side, characters of base64. */
const ANTHROPIC_SIDE = 8000;
const ANTHROPIC_BYTES = 5 * 1024 * 1024;
