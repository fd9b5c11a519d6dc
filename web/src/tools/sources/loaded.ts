/**
 * Sources whose code comes when it is needed: most programs speak to sources of one kind.
 * @module
 */
import type { ToolSource } from "../source.js";

/** A source that is made when it is first opened; what fails to load is tried again with the next opening. */
export function loadedSource(load: () => Promise<ToolSource>): ToolSource {
  let source: Promise<ToolSource> | undefined;
  return {
    open: async (options) => {
      const made = (source ??= load());
      try {
        return await (await made).open(options);
      } catch (error) {
        await made.catch(() => (source = undefined));
        throw error;
      }
    },
  };
}
