/**
 * The elements with their types for Svelte 4 and 5: `<sluice-artifact>` in a component has checked properties and events. It is
 * `mcp-sluice/ui` otherwise.
 *
 * @example
 * ```svelte
 * <script lang="ts">
 *   import "mcp-sluice/ui/svelte";
 * </script>
 * <sluice-artifact {artifact} onsluice-preview={({ detail }) => showPreview(detail)}></sluice-artifact>
 * ```
 * @module mcp-sluice/ui/svelte
 */
import type { HTMLAttributes } from "svelte/elements";
import type { ElementEvents, ElementProps, ElementTag } from "./index.js";

export * from "./index.js";

/** What a component takes for an element; `on:` is how Svelte 4 listens. */
type SvelteProps<Tag extends ElementTag> = Omit<HTMLAttributes<HTMLElementTagNameMap[Tag]>, keyof ElementProps<Tag>> &
  ElementProps<Tag> & {
    [Name in keyof ElementEvents<Tag> & string as `${"on" | "on:"}${Name}`]?: (event: ElementEvents<Tag>[Name]) => void;
  };

type SvelteElements = { [Tag in ElementTag]: SvelteProps<Tag> };

declare module "svelte/elements" {
  interface SvelteHTMLElements extends SvelteElements {}
}
