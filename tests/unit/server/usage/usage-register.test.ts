import { expect, test } from "vitest";
import { LEASE_MS, MemoryUsageRegister, SETTLED_MS } from "../../../../web/src/server/usage/usage-register.js";
import { describeUsageRegister } from "./register-contract.js";

describeUsageRegister("MemoryUsageRegister", async () => {
  const register = new MemoryUsageRegister();
  return { register, beside: () => register, dispose: () => Promise.resolve() };
});

const RUN = { kind: "runs", amount: 1, most: 1 } as const;

test("a lease that is not renewed ends by itself, and one that is renewed does not", async () => {
  let now = 0;
  const register = new MemoryUsageRegister(() => now);
  await register.take("ada", { process: "p", id: "1" }, [RUN]);
  now += LEASE_MS - 1;
  expect((await register.take("ada", { process: "q", id: "1" }, [RUN])).refused).toBe(0);
  await register.renew("ada", [{ process: "p", id: "1", amounts: { runs: 1 } }]);
  now += LEASE_MS - 1;
  expect((await register.take("ada", { process: "q", id: "1" }, [RUN])).refused).toBe(0);
  now += 1;
  expect((await register.take("ada", { process: "q", id: "1" }, [RUN])).refused).toBeNull();
});

test("what was stored is forgotten when everybody has read it", async () => {
  let now = 0;
  const register = new MemoryUsageRegister(() => now);
  const bytes = { kind: "artifactBytes", amount: 9, most: 9, known: { amount: 0, ageMs: 1e9 } } as const;
  await register.take("ada", { process: "p", id: "1" }, [bytes]);
  await register.end("ada", [{ process: "p", id: "1" }], { stored: true });
  expect(await register.look("ada", "q", [{ ...bytes, amount: 0 }])).toEqual([9]);
  now += SETTLED_MS + 2000;
  expect(await register.look("ada", "q", [{ ...bytes, amount: 0 }])).toEqual([0]);
});
