import "mcp-sluice/ui/react";
import type { JSX } from "react";
import type { ArtifactBytes, ShownArtifact, SluiceResult } from "mcp-sluice/ui";

interface Props {
  readonly artifact: ShownArtifact;
  readonly bytes: ArtifactBytes;
  readonly result: { readonly current: SluiceResult | null };
}

export function Shown({ artifact, bytes, result }: Props): JSX.Element {
  return (
    <section>
      <sluice-artifact
        key={artifact.id}
        className="card"
        artifact={artifact}
        bytes={bytes}
        actions={["preview", "download"]}
        compact
        onsluice-preview={({ detail }) => console.log(detail.id)}
      />
      <sluice-viewer
        artifact={artifact}
        bytes={bytes}
        tab="source"
        onsluice-fetch={(event) => event.preventDefault()}
      />
      <sluice-result ref={result} reduced="{}" view="diff" onsluice-view={({ detail }) => console.log(detail)} />
      <sluice-resources tab="templates" />
      <sluice-meter sent={466_000} seen={212} tokensSent={1} />
      {/* @ts-expect-error: an artifact has an id */}
      <sluice-artifact artifact={{ name: "a.csv" }} />
      {/* @ts-expect-error: there is no such action */}
      <sluice-artifact actions={["print"]} />
      {/* @ts-expect-error: bytes are numbers */}
      <sluice-meter sent="466 KB" />
      {/* @ts-expect-error: a meter has no artifact */}
      <sluice-meter artifact={artifact} />
      {/* @ts-expect-error: the event carries an artifact */}
      <sluice-artifact onsluice-save={({ detail }) => detail.toUpperCase()} />
      {/* @ts-expect-error: methods are no properties */}
      <sluice-resources resourceUpdated={() => undefined} />
    </section>
  );
}
