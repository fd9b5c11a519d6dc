import { MemorySessionRegister } from "../../../../web/src/server/sessions/session-register.js";
import { describeRegister } from "./register-contract.js";

describeRegister("MemorySessionRegister", async ({ maxSessions }) => {
  let now = Date.UTC(2026, 0, 1);
  const register = new MemorySessionRegister(() => now, maxSessions);
  return {
    register,
    beside: () => register,
    now: () => now,
    pass: async (milliseconds) => void (now += milliseconds),
    dispose: () => Promise.resolve(),
  };
});
