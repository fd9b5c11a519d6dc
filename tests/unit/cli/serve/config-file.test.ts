import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkServeFile, serveKeys } from "../../../../web/src/cli/serve/config-file.js";
import { SluiceError } from "../../../../web/src/index.js";

const ENV = { KEY: "a-key", URL: "http://127.0.0.1:11434/v1", TOKEN: "${KEY} is not looked into", EMPTY: "" };

/** Why a file is refused; what is no refusal is thrown on. */
function refusalOf(said: Readonly<Record<string, unknown>>): SluiceError | undefined {
  try {
    checkServeFile(said, { HIDDEN: "hidden-value" });
    return undefined;
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
}

describe("a configuration", () => {
  test("may be empty", () => {
    expect(checkServeFile({}, {})).toEqual({ config: {}, secrets: [] });
  });

  test("has the values of variables, which are filled in once, and are told as secrets", () => {
    const said = {
      model: { name: "m", url: "${URL}", api_key: "${KEY}" },
      auth: { tokens: [{ token: "${TOKEN}", user_id: "ada" }] },
      store: "/srv/${KEY}/${EMPTY}",
    };
    const { config, secrets } = checkServeFile(said, ENV);
    expect(config).toEqual({
      model: { name: "m", url: ENV.URL, api_key: "a-key" },
      auth: { tokens: [{ token: ENV.TOKEN, user_id: "ada" }] },
      store: "/srv/a-key/",
    });
    expect(secrets).toEqual([ENV.URL, "a-key", ENV.TOKEN, "a-key", ""]);
  });

  test("leaves variables to sources, and what is said to a model as it is", () => {
    const said = {
      sources: [{ name: "a", transport: "mcp", connection: "run ${NOT_SET}" }],
      instructions: "Say ${NOT_SET}.",
      artifacts: { default_summary_template: "${NOT_SET}" },
    };
    expect(checkServeFile(said, {}).config).toEqual(said);
  });

  test("names the variable that has no value, and not what stands around it", () => {
    expect(() => checkServeFile({ store: "s3://hidden/${BUCKET}" }, {})).toThrow(
      '"store" needs the variable BUCKET, which has no value: set it in the environment.',
    );
  });

  test("that nests without end is refused", () => {
    let nested: unknown = "x";
    for (let depth = 0; depth < 10_000; depth += 1) nested = [nested];
    expect(() => checkServeFile({ hosts: nested }, {})).toThrow("nested less deeply");
  });
});

describe("whatever a file holds", () => {
  const names = [...new Set(serveKeys().flatMap(({ key }) => key.split(/[.[\]<>]+/)))].filter((name) => name !== "");
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.string().map((text) => `hidden${text}`),
      fc.constantFrom("${HIDDEN}", "${MISSING}", null, true, -1, 0.5, 7),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 4 }),
    ),
  })).any;

  test("it is taken, or refused with a sentence that shows no value", () => {
    const file = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 });
    fc.assert(
      fc.property(file, (said) => {
        const refused = refusalOf(said);
        expect(refused?.code ?? "E_TOOL_CONFIG").toBe("E_TOOL_CONFIG");
        expect(refused?.message ?? "").not.toContain("hidden");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the keys", () => {
  const keys = serveKeys();

  test("are each told of once, with an effect", () => {
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
    for (const { key, effect } of keys) expect([key, effect]).toEqual([key, expect.stringMatching(/^[A-Z].{10,}\.$/)]);
  });

  test("have the defaults of the server", async () => {
    const { LIMITS } = await import("../../../../web/src/server/options.js");
    const told = Object.fromEntries(
      keys.flatMap(({ key, default: standard }) =>
        key.startsWith("limits.") ? [[key.slice(7), Number(standard)]] : [],
      ),
    );
    const own = Object.entries(LIMITS).map(([name, limit]) => [
      name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
      limit,
    ]);
    expect(told).toEqual(Object.fromEntries(own));
  });

  test("that have to be given have no default", () => {
    const needed = keys.filter(({ default: standard }) => standard === undefined).map(({ key }) => key);
    expect(needed).toEqual(["model.name", "auth.tokens[].token", "auth.tokens[].user_id", "auth.header.user"]);
  });
});
