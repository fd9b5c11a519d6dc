/**
 * An artifact as a card, which opens its content. React 19.
 * @module
 */
import { type ReactElement, useState } from "react";
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui/react";
import "mcp-sluice/ui/react";

const csv = new Blob(["city,people\nOslo,717710\nBergen,291940\n"], { type: "text/csv" });
const artifact: ShownArtifact = {
  id: "files_8d5f0c1a2b3e",
  mime_type: "text/csv",
  filename: "cities.csv",
  size_bytes: csv.size,
};
// Bytes come from wherever they are: here from memory, as a rule from a store.
const bytes: ArtifactBytes = { open: async (range) => csv.slice(range?.start, range?.end).stream() };

/** The card, and the table once it was asked for. */
export function Cities(): ReactElement {
  const [opened, setOpened] = useState<ShownArtifact>();
  return (
    <>
      <sluice-artifact artifact={artifact} bytes={bytes} onsluice-preview={({ detail }) => setOpened(detail)} />
      {opened && <sluice-viewer artifact={opened} bytes={bytes} />}
    </>
  );
}
