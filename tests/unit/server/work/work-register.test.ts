import { MemoryWorkRegister, WORK_LEASE_MS } from "../../../../web/src/server/work/work-register.js";
import { describeWorkRegister } from "./register-contract.js";

describeWorkRegister("MemoryWorkRegister", async () => {
  let now = 0;
  const register = new MemoryWorkRegister(() => now, 3);
  const end = async (): Promise<void> => {
    now += WORK_LEASE_MS;
  };
  return { register, end, dispose: () => Promise.resolve() };
});
