import { describe, expect, test } from "vitest";
import { CHOICES } from "./output-choices.js";
import { KEYWORDS } from "./output-keywords.js";
import { REFERENCES } from "./output-references.js";
import { validator, widenedOutput } from "./widened.js";

describe.each([...REFERENCES, ...CHOICES, ...KEYWORDS])(
  "$name",
  ({ schema, valid, reduced, refused = [], draft = "2020-12" }) => {
    const isValid = validator(schema, draft);
    const widened = widenedOutput(schema);
    const isValidWidened = validator(widened, draft);

    test("what was valid stays valid, what is refused was refused", () => {
      expect(isValid(valid)).toBe(true);
      expect(isValidWidened(valid)).toBe(true);
      for (const value of refused)
        expect([value, isValid(value), isValidWidened(value)]).toEqual([value, false, false]);
    });

    test("references are let through", () => {
      for (const value of reduced) expect([value, isValidWidened(value)]).toEqual([value, true]);
    });

    test("widening it again changes nothing", () => {
      expect(widenedOutput(widened)).toEqual(widened);
    });

    test("the root keeps its type", () => {
      const type = (schema as { type?: unknown }).type;
      expect((widened as { type?: unknown }).type ?? type).toEqual(type);
    });
  },
);
