/** `<sluice-result>`: what the model sees. */
import { beforeEach, expect, test } from "vitest";
import { base64, begin, MIXED, one, PDF, settled, shown } from "./fixtures.js";

beforeEach(begin);

test("is the observation, character for character", async () => {
  const element = await shown(MIXED);
  expect(one(element, "code").textContent).toBe(element.observation);
  const odd = await shown({}, { observation: '"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "' });
  expect(one(odd, "code").textContent).toBe('"\u202e <b>&amp;\r\n\t\u0000 \ud83d\ude00  "');
});

test("is indented on demand, and back", async () => {
  const element = await shown(MIXED);
  const pretty = one(one(element, "sluice-result-model"), "button[aria-pressed]");
  pretty.click();
  await settled(element);
  expect(one(element, "code").textContent).toMatch(/^\{\n {2}"content": \[\n {4}\{\n/);
  pretty.click();
  await settled(element);
  expect(one(element, "code").textContent).toBe(element.observation);
});

test("says what the guardrail cut", async () => {
  const element = await shown(MIXED, { clamped: { originalChars: 120_000, clampedChars: 50_000 } });
  expect(one(element, ".clamp").textContent).toContain("from 120,000 to 50,000 characters");
});

test("keeps the bytes of an image small on the screen", async () => {
  const observation = `{"content":[{"type":"image","data":"${base64(PDF)}"}]}`;
  const element = await shown({}, { observation });
  expect(one(element, "code").textContent).toBe(observation);
  expect(one(element, ".run").getBoundingClientRect().width).toBeLessThan(200);
});
