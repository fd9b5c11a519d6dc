import fc from "fast-check";
import { expect, it } from "vitest";
import { ResultFacts } from "../../../../../web/src/tools/sources/mcp/tool-interceptor.js";

function factsOf(text: string, cuts: readonly number[] = []): ResultFacts {
  const facts = new ResultFacts();
  const bytes = new TextEncoder().encode(text);
  const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((left, right) => left - right);
  let from = 0;
  for (const border of [...borders, bytes.length]) {
    facts.push(bytes.subarray(from, border));
    from = border;
  }
  return facts;
}

it("says what a reader of the whole message would say, however it is cut", () => {
  const result = fc.record(
    {
      content: fc.array(fc.record({ type: fc.constant("text"), text: fc.string() })),
      isError: fc.oneof(fc.boolean(), fc.constant("true"), fc.constant(null)),
      resultType: fc.constantFrom("complete", "input_required", "task", "é".repeat(40), 7, null),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(result, fc.array(fc.nat()), fc.boolean(), fc.constantFrom(0, 2), (value, cuts, idLast, indent) => {
      const rpc = { jsonrpc: "2.0", id: 1 };
      const text = JSON.stringify(idLast ? { result: value, ...rpc } : { ...rpc, result: value }, null, indent);
      const facts = factsOf(text, cuts);
      expect(facts.isError).toBe(value.isError === true);
      expect(facts.isComplete).toBe(value.resultType === undefined || value.resultType === "complete");
    }),
  );
});

it("takes the last of two of a name", () => {
  expect(factsOf('{"id":1,"result":{"isError":false,"isError":true}}').isError).toBe(true);
});

it("does not take a name for said where it stands deeper, or in an error", () => {
  expect(factsOf('{"id":1,"result":{"content":[{"isError":true}],"a":{"resultType":"task"}}}')).toMatchObject({
    isError: false,
    isComplete: true,
  });
  expect(factsOf('{"id":1,"error":{"isError":true}}').isError).toBe(false);
});
