/**
 * What sources tell while a run goes on.
 * @module
 */
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { ToolNodeEvent } from "../tools/event.js";
import type { CatalogSource } from "./catalog.js";
import type { PlannerEvent } from "./event.js";

/** Tells a run of resources that change, those of whoever it is for. Gives back what ends it. */
export function listening(
  catalog: readonly CatalogSource[],
  scope: ArtifactScope,
  tell: (event: PlannerEvent) => void,
): () => void {
  const hear = (event: ToolNodeEvent): void => {
    if (event.kind !== "resource" || event.event.kind !== "updated") return;
    const { namespace: source, uri, scope: told } = event.event;
    if (told === undefined || isSameUser(told, scope)) tell({ kind: "resource_updated", source, uri });
  };
  const ends = catalog.map((source) => ("getTools" in source ? source.listen?.(hear) : undefined));
  return () => ends.forEach((end) => end?.());
}

function isSameUser(one: ArtifactScope, other: ArtifactScope): boolean {
  const [left, right] = [fullScope(one), fullScope(other)];
  return left.tenant_id === right.tenant_id && left.user_id === right.user_id;
}
