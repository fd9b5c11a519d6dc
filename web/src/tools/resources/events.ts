/**
 * What a host is told of a source's resources.
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";

/** A resource changed, or the list of them; what was kept of it is forgotten already. */
export type ResourceEvent =
  | {
      /** One resource changed. */
      readonly kind: "updated";
      /** The source's name. */
      readonly namespace: string;
      /** As the source names it. */
      readonly uri: string;
      /** Whose session was told, where users have sessions of their own. */
      readonly scope?: ArtifactScope;
    }
  | {
      /** There are other resources, or templates of them, than before. */
      readonly kind: "list_changed";
      /** The source's name. */
      readonly namespace: string;
      /** Whose session was told, where users have sessions of their own. */
      readonly scope?: ArtifactScope;
    };
