/** What `sluice serve` does not start with, and the sentence that says why. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { checkServeFile, serveKeys } from "../../../../web/src/cli/serve/config-file.js";
import { SluiceError } from "../../../../web/src/index.js";
import { Room } from "../command.js";
import { sluiceHere } from "../in-process.js";

describe("refused starts", () => {
  const HIDDEN = "do-not-show-this-value";
  const SECRET = { SLUICE_SERVE_SECRET: "s".repeat(32) };
  const REDIS = "redis://127.0.0.1:1";

  /** Nothing of these variables comes from whoever runs the tests. */
  const CLEAN = { SLUICE_SERVE_TOKEN: undefined, SLUICE_SERVE_SECRET: undefined } as unknown as Record<string, string>;

  async function refused(
    args: readonly string[],
    env: Record<string, string> = {},
    isPlaced = args.includes("--listen"),
  ) {
    // What is wrong may be seen only when there is a port: any but the usual one, which another test may have.
    const where = isPlaced ? [] : ["--listen", "127.0.0.1:0"];
    return sluiceHere(["serve", ...where, ...args], { env: { ...CLEAN, ...env } });
  }

  const LINES: readonly (readonly [args: string[], env: Record<string, string>, sentence: RegExp])[] = [
    [["--listen", "8080"], {}, /--listen needs HOST:PORT/],
    [["--listen", "127.0.0.1:70000"], {}, /--listen needs HOST:PORT/],
    [
      ["--listen", "0.0.0.0:0"],
      {},
      /--listen lets other machines connect.*SLUICE_SERVE_TOKEN, or "auth" in the file of --config/,
    ],
    [["--listen", "[::]:0"], {}, /--listen lets other machines connect/],
    [["--listen", "192.0.2.1:0"], {}, /--listen lets other machines connect/],
    [["--store", "http://127.0.0.1/x"], {}, /a store must be a folder, or s3:\/\/bucket\/prefix/],
    [["--store", "s3://b"], {}, /--store must be a folder, s3:\/\/bucket or s3:\/\/bucket\/prefix/],
    [["--store", "s3://bucket/../x"], {}, /--store must be a folder, s3:\/\/bucket or/],
    [["--state", "memcached://x"], {}, /--state needs a Redis server/],
    [["--state", REDIS, "--store", "x"], {}, /sign with the same secret: set SLUICE_SERVE_SECRET/],
    [["--state", REDIS], SECRET, /need a store that all of them can reach: name it with --store/],
    [[], { SLUICE_SERVE_SECRET: HIDDEN }, /SLUICE_SERVE_SECRET needs at least 32 characters/],
    [[], { SLUICE_SERVE_TOKEN: "short" }, /SLUICE_SERVE_TOKEN needs at least 16 characters/],
    [["--prot", "1"], {}, /no option --prot/],
    [["serve.json"], {}, /put the command after --, as in .* -- COMMAND ARGS…; "serve\.json" comes before it/],
    [["stray", "--", "true"], {}, /"stray" comes before it/],
  ];

  describe("a command line that cannot be meant", () => {
    test.each(LINES)("%j with %j exits 2 with the sentence that helps", async (args, env, sentence) => {
      const { code, stdout, stderr } = await refused(args, env);
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(sentence) });
      expect(stderr).not.toContain(HIDDEN);
      expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    });
  });

  const SOURCE = { name: "a", transport: "mcp", connection: "true" };
  const TOKEN = { token: `${HIDDEN}-and-more`, user_id: "ada" };

  const FILES: readonly (readonly [config: unknown, sentence: RegExp])[] = [
    [[], /must be a JSON object, for instance \{"sources": \[\]\}/],
    [{ source: [] }, /"source" is not a configuration key; did you mean sources\?/],
    [{ sources: {} }, /"sources" must be a list/],
    [{ sources: [SOURCE, SOURCE] }, /"sources\[1\]\.name" must be different from sources\[0\]\.name/],
    [{ sources: [{ ...SOURCE, transprt: "x" }] }, /"sources\[0\]\.transprt" is not a configuration key/],
    [{ sources: [{ name: "a" }] }, /"sources\[0\]\.transport" is missing/],
    [{ model: { url: "http://x/v1" } }, /"model\.name" is missing: it must be a string/],
    [{ model: { name: "m", url: HIDDEN } }, /"model\.url" must be an http\(s\) URL/],
    [{ model: { name: "m", url: `http://a:${HIDDEN}@x/v1` } }, /"model\.url" must be an http\(s\) URL without a user/],
    [{ model: { name: "m", api_key: `${HIDDEN} ` } }, /"model" in the configuration: .*apiKey/],
    [
      { model: { name: "m", api_key: "${NO_SUCH}" } },
      /"model\.api_key" needs the variable NO_SUCH.*set it in the environment/,
    ],
    [
      { model: { name: "m", api_key: "${not one}" } },
      /"model\.api_key" has \$\{…\} around something that is not the name of a variable/,
    ],
    [{ artifacts: { max_inline_sze: 1 } }, /"artifacts" in the configuration: .*max_inline_sze.*max_inline_size/],
    [{ artifacts: { max_inline_size: -1 } }, /"artifacts" in the configuration: .*max_inline_size/],
    [{ artifacts: { retention: {} } }, /"artifacts\.retention" must be written as "retention", next to "artifacts"/],
    [{ artifacts: { interceptor: {} } }, /"artifacts\.interceptor" must be left out/],
    [{ artifacts: 1 }, /"artifacts" must be an object/],
    [{ retention: { ttl: 1 } }, /retention\.ttl.*ttl_/],
    [{ retention: { ttl_seconds: -1 } }, /retention\.ttl_seconds/],
    [{ limits: { listeners: 0 } }, /"limits\.listeners" must be a whole number of at least 1/],
    [{ limits: { listeners: "16" } }, /"limits\.listeners" must be a whole number/],
    [{ limits: { listner: 1 } }, /"limits\.listner" is not a configuration key; did you mean listeners\?/],
    [{ state: HIDDEN }, /"state" must be the URL of a Redis server/],
    [{ store: 1 }, /"store" must be a string/],
    [{ files: "no" }, /"files" must be true, false, or an object$/m],
    [{ files: { sandbox: 1 } }, /"files\.sandbox" must be true or false/],
    [{ files: { max_file_size_mb: "1" } }, /"files\.max_file_size_mb" must be a number of MiB from 0\.000001 to/],
    [{ files: { base64_size_limit_mb: 0 } }, /"files\.base64_size_limit_mb" must be a number of MiB from 0\.000001 to/],
    [{ files: { large_store: "https://x" } }, /a store must be a folder, or s3:\/\/bucket\/prefix/],
    [
      { files: false, sources: [{ name: "lab", transport: "mcp", connection: "lab", user_files: true }] },
      /the source "lab" has "user_files", but "files" is false: leave "files" out of the configuration, or set it to true/,
    ],
    [{ files: { folder: "x" } }, /"files\.folder" is not a configuration key; did you mean folders\?/],
    [{ public_url: `https://x?${HIDDEN}` }, /"public_url" must be an http\(s\) URL without query and user/],
    [{ public_url: "https://sluice.example" }, /"public_url" lets other machines connect/],
    [{ hosts: ["sluice.example"] }, /"hosts" lets other machines connect/],
    [{ hosts: ["http://x"] }, /"hosts\[0\]" must be a host name or an address/],
    [{ origins: ["https://x/path"] }, /"origins\[0\]" must be an origin without a path/],
    [{ listen: "0.0.0.0:1" }, /--listen lets other machines connect/],
    [{ auth: {} }, /"auth" must be an object with one of tokens, header, oidc and module/],
    [{ auth: { tokens: [TOKEN], module: "./x.mjs" } }, /"auth" must be an object with one of/],
    [{ auth: { tokens: [] } }, /"auth\.tokens" must be a list that is not empty/],
    [
      { auth: { tokens: [{ ...TOKEN, token: "short" }] } },
      /"auth\.tokens\[0\]\.token" must be a string of at least 16 characters/,
    ],
    [{ auth: { tokens: [TOKEN, TOKEN] } }, /"auth\.tokens" in the configuration has a token twice/],
    [{ auth: { tokens: [{ token: TOKEN.token }] } }, /"auth\.tokens\[0\]\.user_id" is missing/],
    [{ auth: { header: { user: "a b" } } }, /"auth\.header\.user" must be the name of a header/],
    [{ auth: { module: "./none.mjs" } }, /"auth\.module" in the configuration cannot be loaded/],
    [{ auth: { module: "./empty.mjs" } }, /"auth\.module" in the configuration must export a function authenticate/],
    [{ providers: { x: { client_id: "a" } } }, /providers\.x\.issuer/],
    [
      { providers: { x: { client_id: "a", issuer: "http://elsewhere.example" } } },
      /providers\.x\.issuer: must be an https: URL/,
    ],
  ];

  describe("a configuration that cannot be meant", () => {
    test.each(FILES)("%j exits 2, and names the key and the remedy", async (config, sentence) => {
      await using room = await Room.open();
      await room.write("empty.mjs", "");
      const file = await room.write("serve.json", JSON.stringify(config));
      const { code, stdout, stderr } = await refused(
        ["--config", file, "--store", room.store],
        {},
        JSON.stringify(config).startsWith('{"listen"'),
      );
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(sentence) });
      expect(stderr).not.toContain(HIDDEN);
      expect(stderr).not.toContain(room.folder + "/store");
    });

    test("is told of with its line where it is no JSON, and with its name where it is not there", async () => {
      await using room = await Room.open();
      const file = await room.write("serve.json", '{"sources": [\n]]');
      expect(await refused(["--config", file])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/not JSON.*line 2/) as unknown,
      });
      expect(await refused(["--config", room.path("none.json")])).toMatchObject({ code: 66 });
    });

    test("says twice who may come in", async () => {
      await using room = await Room.open();
      const file = await room.write("serve.json", JSON.stringify({ auth: { tokens: [TOKEN] } }));
      const { code, stderr } = await refused(["--config", file], { SLUICE_SERVE_TOKEN: "t".repeat(16) });
      expect([code, stderr]).toEqual([2, expect.stringContaining("both say who may connect: use only one of them")]);
    });
  });

  describe("a place that cannot be used", () => {
    test("is a folder that is a file: exit 2, with its name and the remedy", async () => {
      await using room = await Room.open();
      const file = await room.write("file", "");
      const { code, stderr } = await refused(["--store", file]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot use the store .*--store DIR/)]);
    });

    test("is a folder that cannot be made: what else there is holds for this command", async () => {
      await using room = await Room.open();
      const file = await room.write("file", "");
      const { code, stderr } = await refused(["--store", `${file}/below`]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining("no store at all for one that is deleted at the end"),
      ]);
      expect(stderr).not.toContain("--store session");
    });

    test("is a bucket without a region: exit 2, with the variable", async () => {
      await using room = await Room.open();
      const none = { AWS_CONFIG_FILE: room.path("none"), AWS_SHARED_CREDENTIALS_FILE: room.path("none") };
      const away = { AWS_REGION: undefined, AWS_ENDPOINT_URL: undefined, AWS_ENDPOINT_URL_S3: undefined };
      const env = { ...none, ...(away as unknown as Record<string, string>) };
      const { code, stderr } = await refused(["--store", "s3://some-bucket/prefix"], env);
      expect([code, stderr]).toEqual([2, expect.stringContaining("needs a region: set AWS_REGION")]);
    });

    test("is a port that is taken: exit 1", async () => {
      const taken = createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      const { port } = taken.address() as AddressInfo;
      const { code, stderr } = await refused(["--listen", `127.0.0.1:${port}`]);
      taken.close();
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining("another program uses this port; choose another with --listen HOST:PORT"),
      ]);
    });

    test("is a Redis server that does not answer: exit 73, without its password", async () => {
      await using room = await Room.open();
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
      onTestFinished(() => void vi.useRealTimers());
      const over = new AbortController();
      const refusing = refused(["--state", `redis://:${HIDDEN}@127.0.0.1:1`, "--store", room.store], SECRET);
      void refusing.finally(() => over.abort());
      while (!over.signal.aborted) {
        // Connecting takes its own time, and the command waits a second and more for the next attempt.
        await new Promise(setImmediate);
        await vi.advanceTimersByTimeAsync(100);
      }
      const { code, stderr } = await refusing;
      expect([code, stderr]).toEqual([73, expect.stringContaining("cannot use the Redis server of --state")]);
      expect(stderr).not.toContain(HIDDEN);
    });

    test("is a bucket that does not answer: exit 73, without its keys", async () => {
      const env = {
        AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1",
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "tester",
        AWS_SECRET_ACCESS_KEY: HIDDEN,
      };
      const { code, stderr } = await refused(["--store", "s3://some-bucket/prefix"], env);
      expect([code, stderr]).toEqual([73, expect.stringContaining("cannot use the bucket of --store")]);
      expect(stderr).not.toContain(HIDDEN);
    });
  });

  test("--keys lists every key of the configuration with its effect, and serves nothing", async () => {
    const { code, stdout, stderr } = await sluiceHere(["serve", "--keys"]);
    expect([code, stderr]).toEqual([0, ""]);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    const names = rows.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "sources",
        "model.name",
        "limits.listeners",
        "auth.tokens[].token",
        "auth.header.user",
        "files",
      ]),
    );
    for (const [, type, , effect] of rows)
      expect([type, effect]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/^[A-Z].*\.$/)]);
    expect(rows.find(([name]) => name === "limits.listeners")).toEqual([
      "limits.listeners",
      "integer, at least 1",
      "16",
      expect.stringContaining("listeners"),
    ]);
    expect(rows.find(([name]) => name === "model.name")?.[2]).toBe("");
  });
});

describe("configuration files", () => {
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
      for (const { key, effect } of keys)
        expect([key, effect]).toEqual([key, expect.stringMatching(/^[A-Z].{10,}\.$/)]);
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
      expect(needed).toEqual([
        "model.name",
        "auth.tokens[].token",
        "auth.tokens[].user_id",
        "auth.header.user",
        "auth.oidc.issuer",
      ]);
    });
  });
});
