/**
 * What is said of a file, and which files are looked for.
 * @module
 */
import { plainLines } from "mcp-sluice/ui/theme";
import type { ShownFile } from "../engine/contract.js";

/** Where files come from, in words. */
export const ORIGINS: readonly (readonly [value: ShownFile["origin"], name: string])[] = [
  ["uploaded", "Uploaded"],
  ["generated", "Generated"],
  ["deferred", "Drafts"],
];

/** What a person looks for; empty: anything. */
export interface FileFilter {
  readonly query: string;
  readonly origin: string;
  readonly category: string;
}

const REASONS: Readonly<Record<string, string>> = {
  needs_editing: "it needs editing",
  draft: "it is a first version",
  incomplete: "it is not complete",
  awaiting_approval: "it waits for approval",
};

/** Whether a file is one of those. */
export function isAmong(file: ShownFile, { query, origin, category }: FileFilter): boolean {
  const words = `${file.filename} ${file.description ?? ""}`.toLowerCase();
  if (!words.includes(query.toLowerCase())) return false;
  return (origin === "" || file.origin === origin) && (category === "" || file.category === category);
}

/** Categories that there are, each once. */
export function categoriesOf(files: readonly ShownFile[]): readonly (readonly [value: string, name: string])[] {
  const found = new Set(files.map(({ category }) => category).filter((category) => category !== null));
  return [...found].toSorted().map((category) => [category, plainLines(category)]);
}

/** `generated on 8/27/2024 · 1,200 rows · 3 versions`; the size stands on the card. */
export function factsOf({ origin, stored_at, facts, versions }: ShownFile): string {
  const on = new Date(stored_at).toLocaleDateString();
  const said = [`${origin === "deferred" ? "draft of" : `${origin} on`} ${on}`, facts ?? ""];
  return [...said, versions > 1 ? `${versions} versions` : ""].filter((part) => part !== "").join(" · ");
}

/** Why it is a draft, and when it goes. */
export function draftWords({ reason, expires_at }: NonNullable<ShownFile["draft"]>): string {
  const why = reason === null ? "" : `: ${REASONS[reason] ?? plainLines(reason)}`;
  return `A draft${why}. It goes on ${new Date(expires_at).toLocaleString()}.`;
}
