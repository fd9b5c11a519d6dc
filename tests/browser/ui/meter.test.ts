/** `<sluice-meter>`: numbers that add up. */
import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { estimateTokens, SluiceMeter, TOKEN_ESTIMATOR } from "../../../web/ui/meter.js";
import { refusedBy, violations } from "./support.js";

beforeEach(() => document.body.replaceChildren());

async function shown(given: Partial<SluiceMeter>): Promise<SluiceMeter> {
  const element = Object.assign(new SluiceMeter(), given);
  document.body.append(element);
  await element.updateComplete;
  return element;
}

function line(element: SluiceMeter): string | undefined {
  return element.renderRoot.querySelector("p")?.textContent.replace(/\s+/g, " ").trim();
}

function widths(element: SluiceMeter): readonly number[] {
  return [...element.renderRoot.querySelectorAll<HTMLElement>(".fill")].map((fill) =>
    parseFloat(fill.style.inlineSize),
  );
}

test("tells bytes, tokens, and how much was kept out", async () => {
  const element = await shown({ sent: 5_592_990, seen: 312, decoded: 4_194_304 });
  expect(line(element)).toBe("5,592,990 B → 312 B · ≈ 1.4 M → ≈ 80 tokens · 99.99 % kept out");
  expect(widths(element)).toEqual([100, 0.006]);
  expect(element.renderRoot.querySelector(".decoded")?.textContent).toContain("4,194,304 B decoded");
  expect(element.renderRoot.querySelector(".estimator")?.textContent).toContain(TOKEN_ESTIMATOR);
  expect(element.renderRoot.querySelector("[role=img]")?.getAttribute("aria-label")).toBe(
    "The server sent 5,592,990 B, the model sees 312 B: 99.99 % kept out.",
  );
});

test.each([
  [1_000_000_000, 1, "99.99 % kept out"],
  [100, 0, "100 % kept out"],
  [200, 100, "50 % kept out"],
  [100_000, 99_999, "less than 0.01 % kept out"],
  [312, 312, "nothing kept out"],
  [312, 340, "grew by 28 B"],
  [0, 28, "grew by 28 B"],
])("%d bytes that become %d: %s", async (sent, seen, words) => {
  expect(line(await shown({ sent, seen }))).toMatch(new RegExp(`· ${words}$`));
});

test("a result that grew has the longer bar", async () => {
  expect(widths(await shown({ sent: 312, seen: 624 }))).toEqual([50, 100]);
});

test.each([
  [3, "≈ 3"],
  [14, "≈ 10"],
  [314, "≈ 310"],
  [9_960, "≈ 10 k"],
  [12_345, "≈ 12 k"],
  [999_999, "≈ 1.0 M"],
  [1_398_248, "≈ 1.4 M"],
])("%d tokens are %s", async (count, words) => {
  const element = await shown({ sent: 1_000_000, seen: 1, tokensSent: count, tokensSeen: 1, estimator: "o200k" });
  expect(line(element)).toContain(`· ${words} → ≈ 1 tokens ·`);
  expect(element.renderRoot.querySelector(".estimator")?.textContent).toContain("o200k");
});

test("says nothing of what is not there, or is no amount", async () => {
  for (const given of [{}, { sent: 0, seen: 0 }, { sent: NaN, seen: 1 }, { sent: -1, seen: 1 }, { sent: 5 }]) {
    expect(line(await shown(given))).toBe("No result yet.");
  }
});

test("the percentage never claims more than was kept out", async () => {
  const element = await shown({});
  await fc.assert(
    fc.asyncProperty(fc.maxSafeNat(), fc.maxSafeNat(), async (one, other) => {
      const [sent, seen] = [Math.max(one, other), Math.min(one, other)];
      fc.pre(sent > seen);
      Object.assign(element, { sent, seen });
      await element.updateComplete;
      const [, percent = "0"] = /· ([\d.]+) % kept out$/.exec(line(element) ?? "") ?? [];
      const hundredths = BigInt(Math.round(Number(percent) * 100));
      const kept = BigInt(sent - seen) * 10_000n;
      expect(hundredths * BigInt(sent) <= kept && kept < (hundredths + 1n) * BigInt(sent)).toBe(true);
      expect(percent === "100").toBe(seen === 0);
    }),
    { numRuns: 200 },
  );
});

test("tokens are bytes divided by four, rounded up", () => {
  expect([0, 1, 4, 5, 312].map(estimateTokens)).toEqual([0, 1, 1, 2, 78]);
});

test("takes its numbers from attributes too, and is one line where it is compact", async () => {
  document.body.innerHTML = '<sluice-meter sent="5592990" seen="312" decoded="4" compact></sluice-meter>';
  const element = document.querySelector("sluice-meter")!;
  await element.updateComplete;
  expect(line(element)).toBe("5.3 MB → 312 B · ≈ 1.4 M → ≈ 80 tokens · 99.99 % kept out");
  expect(element.renderRoot.querySelector(".bars")).toBeNull();
});

test.each([{ sent: 5_592_990, seen: 312, decoded: 5 }, { sent: 1, seen: 2 }, {}])(
  "axe finds nothing",
  async (given) => {
    expect(await violations(await shown(given))).toEqual([]);
  },
);

test("nothing in it needs inline styles", async () => {
  expect(await refusedBy(async () => void (await shown({ sent: 9, seen: 3 })))).toEqual([]);
  const fill = document.querySelector("sluice-meter")?.renderRoot.querySelectorAll<HTMLElement>(".fill")[1];
  expect(fill?.style.inlineSize).toBe("33.333%");
});
