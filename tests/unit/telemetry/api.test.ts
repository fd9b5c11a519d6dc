/** How Sluice comes to the API of OpenTelemetry. */
import * as api from "@opentelemetry/api";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { SluiceError, useOpenTelemetry, type OpenTelemetryApi } from "../../../web/src/index.js";
import { telemetryApi, getTracer, getMeter, type TelemetryApi } from "../../../web/src/telemetry/api.js";
import { findApi } from "../../../web/src/telemetry/api-node.js";
import { alsoRecordIn } from "../../../web/src/telemetry/metrics.js";
import { readErrorCode, isObserved, startOperation } from "../../../web/src/telemetry/operation.js";
import { RecordedTelemetry } from "../../support/telemetry.js";

/** Where the API keeps what an SDK registers. */
const REGISTERED: unique symbol = Symbol.for("opentelemetry.js.api.1");
const registry = globalThis as { [REGISTERED]?: unknown };

// Other files of tests that this process has run may have left an SDK's place, or `/metrics` that counts.
beforeEach(() => {
  const { [REGISTERED]: kept } = registry;
  delete registry[REGISTERED];
  const meter = alsoRecordIn(undefined);
  onTestFinished(() => {
    alsoRecordIn(meter);
    registry[REGISTERED] = kept;
    if (kept === undefined) delete registry[REGISTERED];
  });
});

test("the package has all that is used of it", () => {
  const fits: OpenTelemetryApi = api;
  for (const name of ["ROOT_CONTEXT", "context", "trace", "propagation", "metrics", "createNoopMeter"] as const) {
    expect(fits[name]).toBeDefined();
  }
});

test("nothing is loaded, and nothing observed, until an SDK is registered", async () => {
  expect(findApi()).toBeUndefined();
  expect(isObserved()).toBe(false);
  expect(startOperation(() => expect.unreachable())).toBeUndefined();
  await using telemetry = new RecordedTelemetry();
  expect(telemetry.spans).toEqual([]);
  expect(findApi()).toBeDefined();
  expect(isObserved()).toBe(true);
});

test("an API that is handed over records nothing without an SDK", () => {
  useOpenTelemetry(api);
  expect(telemetryApi()).toBe(api);
  const used = api as unknown as TelemetryApi;
  expect([getTracer(used), getMeter(used)]).toEqual([undefined, undefined]);
  expect(isObserved()).toBe(false);
});

test("an error is told by its code, never by its words", () => {
  expect(readErrorCode(new SluiceError("E_TOO_LARGE", "secret"))).toBe("E_TOO_LARGE");
  expect(readErrorCode(new DOMException("secret", "AbortError"))).toBe("E_CANCELLED");
  for (const other of [new Error("secret"), { code: "secret" }, { code: "E_secret" }, "secret", null, undefined]) {
    expect(readErrorCode(other)).toBe("_OTHER");
  }
});
