import { MemoryRateLimit } from "../../../web/src/server/state.js";
import { describeRateLimit } from "./rate-limit-contract.js";

describeRateLimit("MemoryRateLimit", async () => {
  const rates = new MemoryRateLimit();
  return { rates, beside: () => rates, dispose: () => Promise.resolve() };
});
