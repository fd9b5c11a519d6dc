/**
 * What a card says of an artifact. Every word of it may be a server's.
 * @module
 */
import { humanSize } from "mcp-sluice";
import { plainText } from "../plain-text.js";
import { isStored, type ShownArtifact } from "../shown.js";

/** Most characters of a reason, which names its remedy. */
const MAX_REASON = 500;
/** Most characters of an id, and of a hash. */
const MAX_ID = 160;

/** One line of an artifact's provenance. */
export interface Fact {
  readonly term: string;
  readonly value: string;
  /** It is to be read letter by letter. */
  readonly isCode?: boolean;
}

/** What a person would call it: its file name, else its id. */
export function nameOf({ filename, id }: ShownArtifact): string {
  return plainText(filename, 200) || plainText(id, MAX_ID) || "artifact";
}

/** Its type, or that nobody said. */
export function typeOf({ mime_type }: ShownArtifact): string {
  return plainText(mime_type, 100) || "unknown type";
}

/** The size of its bytes; undefined where nobody knows. */
export function sizeOf({ size_bytes }: ShownArtifact): string | undefined {
  return isAmount(size_bytes) ? humanSize(size_bytes) : undefined;
}

/** The call, or else the resource, that it came from. */
export function originOf({ source }: ShownArtifact): string | undefined {
  const [tool, uri] = [plainText(source?.["tool"], 100), plainText(source?.["uri"], 100)];
  if (tool !== "") return `from ${tool}`;
  return uri === "" ? undefined : `from ${uri}`;
}

/** Why it is not as it should be, in one sentence; undefined where nothing is wrong. */
export function warningOf(artifact: ShownArtifact): string | undefined {
  const said = plainText(artifact.source?.["warning"], MAX_REASON);
  if (said !== "") return said;
  return isStored(artifact) ? undefined : "Its bytes were not stored: call the tool again with a store.";
}

/** How it is named in arguments and texts. */
export function refTo({ id }: ShownArtifact): string {
  return `artifact://${id}`;
}

/** Where it came from and what it is, as far as that is known. */
export function provenanceOf(artifact: ShownArtifact): readonly Fact[] {
  const { id, sha256, namespace, source, size_bytes, stored_at } = artifact;
  const all: readonly Fact[] = [
    { term: "SHA-256", value: plainText(sha256, MAX_ID), isCode: true },
    { term: "Id", value: plainText(id, MAX_ID), isCode: true },
    { term: "Size", value: isAmount(size_bytes) ? `${size_bytes.toLocaleString("en")} B` : "" },
    { term: "Tool", value: plainText(source?.["tool"]) },
    { term: "Resource", value: plainText(source?.["uri"], MAX_REASON), isCode: true },
    { term: "Server", value: plainText(namespace) },
    { term: "Stored", value: timeOf(stored_at) },
    { term: "Description", value: plainText(source?.["description"], MAX_REASON) },
    { term: "Warning", value: warningOf(artifact) ?? "" },
  ];
  return all.filter(({ value }) => value !== "");
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** The greatest distance from 1970 that a Date can tell. */
const MAX_TIME = 8.64e15;

function timeOf(milliseconds: number | undefined): string {
  if (!isAmount(milliseconds) || milliseconds > MAX_TIME) return "";
  return new Date(milliseconds).toLocaleString();
}
