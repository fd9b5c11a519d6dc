/**
 * One operation: a span, and its duration as a metric. Everything that is timed goes through {@link startOperation}.
 * @module
 */
import {
  telemetryApi,
  getTracer,
  type Attributes,
  type TelemetryApi,
  type TelemetryContext,
  type TelemetrySpan,
} from "./api.js";
import type { InstrumentName } from "./instruments.js";
import { isMeasured, record } from "./metrics.js";

const KINDS = { internal: 0, server: 1, client: 2 } as const;

/** What an operation is. Its attributes hold no content, no owner and no secret. */
export interface OperationInfo {
  readonly kind: keyof typeof KINDS;
  /** The name of the span. Of few different ones. */
  readonly name: string;
  /** The metrics of its duration. */
  readonly durations: readonly InstrumentName[];
  /** Attributes of the span and of the metric. */
  readonly attributes: Attributes;
  /** Attributes of the span only. */
  readonly spanAttributes?: Attributes;
  /**
   * The parent. Defaults to what runs. If it is another, such as one out of a request, the span is linked to what runs.
   */
  readonly parent?: TelemetryContext | undefined;
}

/** How an operation ended. */
export interface OperationEnd {
  /** `error.type`: a code. Left out if it succeeded. */
  readonly error?: string | undefined;
  /** Further attributes of the span and of the metric. */
  readonly attributes?: Attributes;
  /** Further attributes of the span only. */
  readonly spanAttributes?: Attributes;
}

/** An operation that has begun. */
export class Operation {
  readonly #info: OperationInfo;
  readonly #begun = performance.now();
  readonly #api: TelemetryApi | undefined;
  readonly #span: TelemetrySpan | undefined;
  /** The context of its span. Undefined without an API. */
  readonly context: TelemetryContext | undefined;
  #isOver = false;

  /** For {@link startOperation}. */
  constructor(info: OperationInfo, api: TelemetryApi | undefined) {
    this.#info = info;
    this.#api = api;
    this.context = info.parent ?? api?.context.active();
    const tracer = api && getTracer(api);
    if (api === undefined || tracer === undefined || this.context === undefined) return;
    const ambient = info.parent && api.trace.getSpanContext(api.context.active());
    this.#span = tracer.startSpan(
      info.name,
      {
        kind: KINDS[info.kind],
        attributes: { ...info.attributes, ...info.spanAttributes },
        links: ambient && api.trace.isSpanContextValid(ambient) ? [{ context: ambient }] : [],
      },
      this.context,
    );
    this.context = api.trace.setSpan(this.context, this.#span);
  }

  /** Whether its span is recorded: only then requests tell others of it. */
  get isTraced(): boolean {
    return this.#span?.isRecording() === true;
  }

  /** Runs work as a part of the operation. */
  run<T>(work: () => T): T {
    if (this.#api === undefined || this.context === undefined || this.#span === undefined) return work();
    return this.#api.context.with(this.context, work);
  }

  /** What tells another program of the span, by the propagators of the host. Empty if it is not traced. */
  carrier(): Readonly<Record<string, string>> {
    const carrier: Record<string, string> = {};
    if (this.isTraced && this.context !== undefined) this.#api?.propagation.inject(this.context, carrier);
    return carrier;
  }

  /** Ends the operation. The first end counts. */
  end({ error, attributes, spanAttributes }: OperationEnd = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const failed = error === undefined ? undefined : { "error.type": error };
    if (this.#span !== undefined) {
      this.#span.setAttributes({ ...attributes, ...spanAttributes, ...failed });
      if (failed !== undefined) this.#span.setStatus({ code: 2 });
      this.#span.end();
    }
    const seconds = (performance.now() - this.#begun) / 1000;
    const all = { ...this.#info.attributes, ...attributes, ...failed };
    for (const duration of this.#info.durations) record(duration, seconds, all, this.context);
  }
}

/** Whether anybody looks at operations. Ask before attributes are made. */
export function isObserved(): boolean {
  const api = telemetryApi();
  return isMeasured() || (api !== undefined && getTracer(api) !== undefined);
}

/** Starts an operation. Undefined while telemetry is off, so that it costs nothing. */
export function startOperation(info: () => OperationInfo): Operation | undefined {
  return isObserved() ? new Operation(info(), telemetryApi()) : undefined;
}

/** Does work as an operation, which ends with it. `endOf` tells how, unless it throws. */
export async function observeOperation<T>(
  info: () => OperationInfo,
  work: (operation: Operation | undefined) => Promise<T>,
  endOf: (result: T) => OperationEnd = () => ({}),
): Promise<T> {
  const operation = startOperation(info);
  if (operation === undefined) return work(undefined);
  try {
    const result = await operation.run(() => work(operation));
    operation.end(endOf(result));
    return result;
  } catch (error) {
    operation.end({ error: readErrorCode(error) });
    throw error;
  }
}

/** The code of an error: our own, that of an aborted call, or `_OTHER`. Never its message. */
export function readErrorCode(error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  if (typeof code === "string" && /^E_[A-Z_]{1,40}$/.test(code)) return code;
  return name === "AbortError" ? "E_CANCELLED" : "_OTHER";
}
