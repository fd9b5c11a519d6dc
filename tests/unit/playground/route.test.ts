import fc from "fast-check";
import { expect, it } from "vitest";
import { writeRoute, parseRoute, type Route } from "../../../web/playground/app/route.js";

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const artifact = fc.record({ shelf: fc.constantFrom("session", "files", "served", "served-files"), id: word });
const place = fc.oneof(
  fc.record({ view: fc.constant("try"), call: word }),
  fc.record({ view: fc.constant("try"), result: word, title: word }),
  fc.record({ view: fc.constant("tools"), tool: word }),
  fc.record({ view: fc.constant("resources"), server: word }),
  fc.record({ view: fc.constant("resources"), server: word, uri: word }),
  fc.record({ view: fc.constantFrom("try", "tools", "resources", "files", "chat", "guardrails", "log") }),
);
const routes = fc.record({ place, artifact: fc.option(artifact, { nil: undefined }) });

it("reads what it writes", () => {
  fc.assert(
    fc.property(routes, ({ place: named, artifact: opened }) => {
      const route = { ...named, ...(opened !== undefined && { artifact: opened }) } as Route;
      expect(parseRoute(writeRoute(route))).toEqual(route);
    }),
  );
});

it("never throws, and shows a view that there is", () => {
  const hostile = fc.tuple(
    fc.constantFrom("", "#", "#/", "#/try/", "#/tools/", "#/files/"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(hostile, ([start, rest]) => {
      const route = parseRoute(start + rest);
      expect(() => writeRoute(route)).not.toThrow();
      expect(parseRoute(writeRoute(route)).view).toBe(route.view);
    }),
  );
});

it.each([
  ["", { view: "try" }],
  ["#/constructor", { view: "try" }],
  ["#/tools/%E0%A4%A", { view: "tools" }],
  ["#/files/a1", { view: "files", artifact: { shelf: "files", id: "a1" } }],
  ["#/try?artifact=elsewhere:a1", { view: "try" }],
  ["#/try?artifact=session:", { view: "try" }],
  [`#/tools/${"x".repeat(20_000)}`, { view: "try" }],
])("reads %.40s", (hash, route) => expect(parseRoute(hash)).toEqual(route));
