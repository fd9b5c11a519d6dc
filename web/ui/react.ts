/**
 * The elements with their types for React 18 and 19: `<sluice-artifact>` in JSX has checked properties and events. It is
 * `mcp-sluice/ui` otherwise. React 19 sets properties and listens to events; React 18 sets attributes only, so objects and
 * listeners are set through a `ref` there.
 *
 * @example
 * ```tsx
 * import "mcp-sluice/ui/react";
 *
 * <sluice-artifact artifact={artifact} onsluice-preview={({ detail }) => showPreview(detail)} />;
 * ```
 * @module mcp-sluice/ui/react
 */
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { ElementEvents, ElementProps, ElementTag } from "./index.js";

export * from "./index.js";

/** What JSX takes for an element. */
type ReactProps<Tag extends ElementTag> = Omit<
  DetailedHTMLProps<HTMLAttributes<HTMLElementTagNameMap[Tag]>, HTMLElementTagNameMap[Tag]>,
  keyof ElementProps<Tag>
> &
  ElementProps<Tag> & {
    [Name in keyof ElementEvents<Tag> & string as `on${Name}`]?: (event: ElementEvents<Tag>[Name]) => void;
  };

type ReactElements = { [Tag in ElementTag]: ReactProps<Tag> };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements extends ReactElements {}
  }
}
