/** A worker of Cloudflare's runtime, where no bytes may be compiled: the core comes as a module. */
import wasm from "mcp-sluice/core.wasm";
import { smoke } from "./smoke.js";

// oxlint-disable-next-line import/no-default-export -- what the runtime calls
export default {
  async test() {
    console.log(JSON.stringify(await smoke({ wasm })));
  },
};
