/** What the document forbids is refused: by a code, in a sentence that names the place, before anything happens. */
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { amount } from "../../../support/full.js";
import { calling, modelOf } from "../chat/chatting.js";
import { Visitor } from "../visitor.js";
import { type Asked, Description, type DescribedOperation, type Schema } from "./openapi.js";

/** A request with one thing that is forbidden, and the words by which the refusal names its place. */
interface Forbidden {
  readonly asked: Asked;
  readonly place: string;
}

const limits = { requestsPerMinute: 1_000_000, sessionsPerMinute: 1_000_000, concurrentRequests: 1000 };
const server = new SluiceServer({
  store: new MemoryArtifactStore({ retention: null }),
  filesStore: new MemoryArtifactStore(),
  llm: modelOf(calling()),
  limits,
});
const description = await Description.of(server);
let visitor: Visitor;
beforeAll(async () => {
  visitor = await Visitor.of(server);
  return () => server[Symbol.asyncDispose]();
});

/** Values that a schema does not allow: anything, and what is next to what it allows. */
function wrong(schema: Schema): fc.Arbitrary<unknown> {
  const { maxLength, minimum, maximum, maxItems } = schema as Readonly<Record<string, number | undefined>>;
  const near: fc.Arbitrary<unknown>[] = [fc.jsonValue()];
  if (maxLength !== undefined) near.push(fc.integer({ min: 1, max: 50 }).map((more) => "x".repeat(maxLength + more)));
  if (minimum !== undefined) near.push(fc.integer({ min: 1, max: 1e6 }).map((less) => minimum - less));
  if (maximum !== undefined) near.push(fc.integer({ min: 1, max: 1e6 }).map((more) => maximum + more));
  if (maxItems !== undefined) near.push(fc.constant(Array.from({ length: maxItems + 1 }, () => null)));
  return fc.oneof(...near).filter((value) => value !== undefined && !description.allows(schema, value));
}

/** The same as the text of a parameter. A number is read from it. */
function wrongText(schema: Schema): fc.Arbitrary<string> {
  const isNumber = schema["type"] === "integer" || schema["type"] === "number";
  const texts = fc.oneof(
    fc.string(),
    wrong(schema)
      .filter((value) => typeof value !== "object")
      .map(String),
  );
  return texts.filter((text) => !description.allows(schema, isNumber ? Number(text) : text));
}

/** Whether there is any text that it does not allow. */
const isLimited = (schema: Schema): boolean =>
  Object.keys(schema).some((key) => key !== "type" && key !== "default") || schema["type"] !== "string";

const sample = ({ type, enum: choices, minimum = 0 }: Schema): unknown =>
  Array.isArray(choices)
    ? choices[0]
    : type === "integer" || type === "number"
      ? minimum
      : type === "array"
        ? []
        : type === "object"
          ? {}
          : "x";

/** What is needed, and nothing else. */
function least({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  const all = properties as Readonly<Record<string, Schema>>;
  return Object.fromEntries((required as readonly string[]).map((name) => [name, sample(all[name] ?? {})]));
}

function forbiddenIn(operation: DescribedOperation): readonly fc.Arbitrary<Forbidden>[] {
  const { parameters, requestBody } = operation;
  const needed = (where: string): Record<string, string> =>
    Object.fromEntries(parameters.filter((each) => each.in === where && each.required).map(({ name }) => [name, "x"]));
  const [type, { schema } = { schema: {} }] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isJson = type === "application/json";
  const body = type === undefined ? {} : { body: isJson ? least(schema) : "bytes" };
  const asked = { path: needed("path"), query: needed("query"), ...body };
  const all: fc.Arbitrary<Forbidden>[] = [];
  for (const { name, in: where, required, schema: own } of parameters) {
    if (where !== "query") continue;
    if (isLimited(own)) {
      const asks = (text: string): Forbidden => ({
        asked: { ...asked, query: { ...asked.query, [name]: text } },
        place: name,
      });
      all.push(wrongText(own).map(asks));
    }
    const { [name]: _, ...query } = asked.query;
    if (required) all.push(fc.constant({ asked: { ...asked, query }, place: name }));
  }
  if (isJson && schema["type"] === "object") all.push(...forbiddenBodies(schema, asked));
  return all;
}

const OBJECT: Schema = { type: "object" };

function forbiddenBodies(schema: Schema, asked: Asked): readonly fc.Arbitrary<Forbidden>[] {
  const properties = Object.entries(schema["properties"] as Readonly<Record<string, Schema>>);
  const body = least(schema);
  const all: fc.Arbitrary<Forbidden>[] = [];
  const whole = wrong(OBJECT).map((value) => ({ asked: { ...asked, body: value }, place: "The body" }));
  all.push(whole);
  if (schema["additionalProperties"] === false) {
    const known = new Set(properties.map(([name]) => name));
    const names = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString"));
    const unknown = names.filter((name) => !known.has(name));
    all.push(unknown.map((name) => ({ asked: { ...asked, body: withOwn(body, name, 1) }, place: shownName(name) })));
  }
  for (const [name, own] of properties) {
    const { [name]: _, ...rest } = body;
    if (Object.hasOwn(body, name)) all.push(fc.constant({ asked: { ...asked, body: rest }, place: name }));
    if (Object.keys(own).every((key) => key === "description")) continue;
    all.push(wrong(own).map((value) => ({ asked: { ...asked, body: withOwn(body, name, value) }, place: name })));
  }
  return all;
}

/** The same with a member of its own, whatever its name is. */
function withOwn(body: object, name: string, value: unknown): object {
  const all = { ...body };
  Object.defineProperty(all, name, { value, enumerable: true, configurable: true });
  return all;
}

const shownName = (name: string): string => JSON.stringify(name.slice(0, 64));

const checked = description.operations.flatMap((operation) => {
  const kinds = forbiddenIn(operation);
  return kinds.length === 0 ? [] : [{ id: operation.operationId, forbidden: fc.oneof(...kinds) }];
});

async function refusalOf(id: string, asked: Asked): Promise<readonly [status: number, code: string, message: string]> {
  const [path, init] = description.request(id, asked);
  const response = await visitor.ask(path, init);
  const { status } = response;
  if (status < 400) return [status, "", (await response.body?.cancel()) ?? ""];
  const { error } = (await description.answered(id, response)) as { error: { code: string; message: string } };
  return [status, error.code, error.message];
}

describe("what the document forbids", () => {
  test("is something in most operations that take anything", () => {
    expect(checked.map(({ id }) => id).toSorted()).toEqual([
      "answerPause",
      "beginSession",
      "callTool",
      "cancelRun",
      "completeTemplate",
      "deleteArtifact",
      "describeArtifact",
      "listArtifacts",
      "listFiles",
      "readArtifact",
      "readResource",
      "renameFile",
      "resumeRun",
      "startRun",
      "uploadArtifact",
      "uploadFile",
    ]);
  });

  test.each(checked)("is refused by $id, and the place is named", async ({ id, forbidden }) => {
    await fc.assert(
      fc.asyncProperty(forbidden, async ({ asked, place }) => {
        const [status, code, message] = await refusalOf(id, asked);
        expect([status, code]).toEqual([400, "E_INVALID_ARGUMENT"]);
        expect(message).toContain(place);
      }),
      { numRuns: amount(60, 300) },
    );
  });

  // Messages of MCP are refused by the rules of MCP.
  const bodied = description.operations.filter(
    ({ requestBody, path }) => requestBody?.content["application/json"] && !/^\/(?:mcp|raw)\//.test(path),
  );

  test.each(bodied)(
    "is refused by $operationId where the body is no JSON, or does not say that it is",
    async (said) => {
      const path = Object.fromEntries(
        said.parameters.filter((each) => each.in === "path").map(({ name }) => [name, "x"]),
      );
      const [address, init] = description.request(said.operationId, { path, body: {} });
      const ask = async (type: string, body: BodyInit): Promise<number> => {
        const response = await visitor.ask(address, { ...init, body, headers: { "content-type": type } });
        await description.answered(said.operationId, response);
        return response.status;
      };
      expect(await ask("text/plain", "{}")).toBe(415);
      expect(await ask("application/x-www-form-urlencoded", "a=1")).toBe(415);
      for (const text of ["", "{", "[1,]", "\u0000", '{"a":1}}']) expect(await ask("application/json", text)).toBe(400);
      expect(await ask("application/json", new Uint8Array([0x22, 0xff, 0x22]))).toBe(400);
      expect(await ask("application/json", " ".repeat(1024 * 1024 + 1))).toBe(413);
    },
  );

  test("is, in every part of a path, what encodes no UTF-8", async () => {
    for (const { operationId, path, method, parameters } of description.operations) {
      if (!parameters.some((each) => each.in === "path")) continue;
      const response = await visitor.ask(path.replace(/\{\w+\}/g, "%ff"), { method: method.toUpperCase() });
      expect([operationId, response.status]).toEqual([operationId, 400]);
      await description.answered(operationId, response);
    }
  });
});
