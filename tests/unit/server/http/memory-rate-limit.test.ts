import { MemoryRateLimit } from "../../../../web/src/server/http/rate-limit.js";
import { describeRateLimit } from "./rate-limit-contract.js";

describeRateLimit("MemoryRateLimit", async () => {
  const rates = new MemoryRateLimit();
  return { rates, beside: () => rates, dispose: () => Promise.resolve() };
});
