/**
 * The elements with their types for Vue 3: `<sluice-artifact>` in a template has checked properties and events. It is
 * `mcp-sluice/ui` otherwise. Vue's compiler has to know that they are no components of Vue: `isCustomElement`.
 *
 * @example
 * ```vue
 * <script setup lang="ts">
 * import "mcp-sluice/ui/vue";
 * </script>
 * <template>
 *   <sluice-artifact :artifact="artifact" @sluice-preview="({ detail }) => showPreview(detail)" />
 * </template>
 * ```
 * @module mcp-sluice/ui/vue
 */
import type { EmitFn, HTMLAttributes, PublicProps } from "vue";
import type { ElementEvents, ElementProps, ElementTag } from "./index.js";

export * from "./index.js";

/** What templates take for a component. */
type VueElement<Tag extends ElementTag> = new () => HTMLElementTagNameMap[Tag] & {
  /** @deprecated Only for the types of templates: an element has no `$props`. */
  readonly $props: Omit<HTMLAttributes, keyof ElementProps<Tag>> & ElementProps<Tag> & PublicProps;
  /** @deprecated Only for the types of templates: an element has no `$emit`. */
  readonly $emit: EmitFn<{ [Name in keyof ElementEvents<Tag>]: (event: ElementEvents<Tag>[Name]) => void }>;
};

type VueElements = { [Tag in ElementTag]: VueElement<Tag> };

declare module "vue" {
  interface GlobalComponents extends VueElements {}
}
