/**
 * What a model, and a viewer, are told of a result whose files are stored (user storage §6.2, §7, §8).
 * @module
 */
import type { ContractArtifact, DeferredArtifact, ToolContract } from "../core/contract.js";
import type { DisplayedFile, ResultDisplay } from "../tools/user-files/handling.js";

/** A file of a result, stored, or with the reason why not. */
export interface KeptFile {
  readonly said: ContractArtifact | DeferredArtifact;
  /** As it is called from now on. */
  readonly name: string;
  /** Null where it was not stored. */
  readonly id: string | null;
  readonly size_bytes: number;
  /** Of a draft: when it goes, in milliseconds since 1970. */
  readonly expires_at: number | null;
  /** Why it was not stored. */
  readonly warning?: string;
}

/** What is told beside files. */
export interface ToldFacts {
  /** JSON text, in which numbers have all of their digits. */
  readonly results: string;
  /** The same; undefined where there is none. */
  readonly meta_data: string | undefined;
}

/** JSON text of the contract with names and references in place of bytes, paths and addresses. */
export function toldContract(
  { retryable, artifacts, deferred_artifacts }: ToolContract,
  { results, meta_data }: ToldFacts,
  kept: readonly KeptFile[],
): string {
  const files = kept.slice(0, artifacts.length).map(toldFile);
  const drafts = kept.slice(artifacts.length).map((file) => ({ ...toldFile(file), ...toldDraft(file) }));
  const rest = JSON.stringify({
    ...(retryable !== undefined && { retryable }),
    ...(files.length > 0 && { artifacts: files }),
    ...(deferred_artifacts.length > 0 && { deferred_artifacts: drafts }),
  });
  const members = [`"results":${results}`, ...(meta_data === undefined ? [] : [`"meta_data":${meta_data}`])];
  return `{${[...members, ...(rest === "{}" ? [] : [rest.slice(1, -1)])].join(",")}}`;
}

/** What a viewer is told; undefined where there is nothing to show. */
export function toldDisplay({ display }: ToolContract, kept: readonly KeptFile[]): ResultDisplay | undefined {
  if (kept.length === 0 && display.notification === undefined) return undefined;
  const files = kept.flatMap(displayed);
  const primary = kept.find(({ said }) => said.name === display.primary_file);
  return {
    ...display,
    // It may be called otherwise by now.
    ...(primary !== undefined && { primary_file: primary.name }),
    files,
  };
}

/** `artifact://<id>?type=…&size=…`, as the core writes references. */
export function referenceTo(id: string, mime: string, size_bytes: number): string {
  return `artifact://${id}?type=${encodeURIComponent(mime).replaceAll("%2F", "/")}&size=${size_bytes}`;
}

function toldFile(file: KeptFile): Readonly<Record<string, unknown>> {
  const { said, name, size_bytes, warning } = file;
  const { mime, description, category } = said;
  return {
    name,
    ...(file.id === null ? { warning: warning ?? "not stored" } : { ref: referenceTo(file.id, mime, size_bytes) }),
    mime,
    size: size_bytes,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
  };
}

function toldDraft({ said, expires_at }: KeptFile): Readonly<Record<string, unknown>> {
  const { reason, next_actions } = said as DeferredArtifact;
  return {
    ...(reason !== undefined && { reason }),
    ...(next_actions !== undefined && { next_actions }),
    ...(expires_at !== null && { expires: new Date(expires_at).toISOString() }),
  };
}

function displayed({ said, name, id }: KeptFile): readonly DisplayedFile[] {
  if (id === null) return [];
  const viewer = "viewer" in said ? said.viewer : undefined;
  const auto_open = "auto_open" in said && said.auto_open;
  return [{ name, id, ...(viewer !== undefined && { viewer }), auto_open }];
}
