import { expect, test } from "vitest";
import { ToolClientError } from "../../../web/src/tools/errors.js";
import { overAfter, timeoutOf, waitsOf } from "../../../web/src/tools/user-files/call-time.js";

test("the messages are those of the specification", () => {
  expect([...waitsOf([15, 20, 25], 30), overAfter(30)]).toEqual([
    { after_s: 15, message: "The tool is taking longer than expected. Please wait...", is_over: false },
    { after_s: 20, message: "Still processing your request. This may take a few more moments.", is_over: false },
    {
      after_s: 25,
      message: "Processing continues. The tool will timeout in 5 seconds if no progress.",
      is_over: false,
    },
    {
      after_s: 30,
      message: "Tool failed to respond in a reasonable amount of time. Please try again or use a smaller dataset.",
      is_over: true,
    },
  ]);
});

test.each([
  [[15, 20, 25], 120, "95 seconds"],
  [[1, 2, 3], 4, "1 second"],
  [[0.1, 0.2, 0.7], 1, "0.3 seconds"],
])("the third one says how much time is left: %j of %d", (notifyAfter, limit, left) => {
  expect(waitsOf(notifyAfter, limit).at(-1)?.message).toContain(`timeout in ${left} if`);
});

test("what is not below the limit is not told", () => {
  expect(waitsOf([15, 20, 25], 20).map(({ after_s }) => after_s)).toEqual([15]);
  expect(waitsOf([15, 20, 25], 1)).toEqual([]);
});

test("a call's own limit counts before the source's, between a second and five minutes", () => {
  expect(timeoutOf({}, 30)).toBe(30);
  expect(timeoutOf({ timeoutSeconds: 1 }, 30)).toBe(1);
  expect(timeoutOf({ timeoutSeconds: 300 }, 30)).toBe(300);
});

test.each([0, 0.9, 301, Number.NaN, Infinity, "60", null])("%j is no limit", (timeoutSeconds) => {
  const limit = (): number => timeoutOf({ timeoutSeconds: timeoutSeconds as number }, 30);
  expect(limit).toThrow(ToolClientError);
  expect(limit).toThrow("The context's timeoutSeconds must be a number of seconds from 1 to 300.");
});
