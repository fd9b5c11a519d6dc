/**
 * Records values, in the SDK that the host registered and in the one that `/metrics` shows.
 * @module
 */
import { getMeter, telemetryApi, type Attributes, type TelemetryContext, type TelemetryMeter } from "./api.js";
import { INSTRUMENTS, type Instrument, type InstrumentName } from "./instruments.js";

/** Enters a value. */
type Enter = (value: number, attributes: Attributes, context?: TelemetryContext) => void;

/** The metrics of one meter, each made at its first use. */
class Recorder {
  readonly meter: TelemetryMeter;
  readonly #made = new Map<InstrumentName, Enter>();

  constructor(meter: TelemetryMeter) {
    this.meter = meter;
  }

  record(name: InstrumentName, value: number, attributes: Attributes, context?: TelemetryContext): void {
    let enter = this.#made.get(name);
    if (enter === undefined) {
      enter = this.#make(name);
      this.#made.set(name, enter);
    }
    enter(value, attributes, context);
  }

  #make(name: InstrumentName): Enter {
    const { kind, unit, description, buckets }: Instrument = INSTRUMENTS[name];
    if (kind === "counter") {
      const counter = this.meter.createCounter(name, { unit, description });
      return (value, attributes, context) => counter.add(value, attributes, context);
    }
    const advice = buckets && { explicitBucketBoundaries: [...buckets] };
    const histogram = this.meter.createHistogram(name, { unit, description, ...(advice && { advice }) });
    return (value, attributes, context) => histogram.record(value, attributes, context);
  }
}

let own: Recorder | undefined;
let registered: Recorder | undefined;

/** Records in this meter too, in place of the one that it returns. Undefined is none. */
export function alsoRecordIn(meter: TelemetryMeter | undefined): TelemetryMeter | undefined {
  const before = own?.meter;
  own = meter && new Recorder(meter);
  return before;
}

/** Whether anybody counts or measures. */
export function isMeasured(): boolean {
  return own !== undefined || findRecorder() !== undefined;
}

/** Adds to a counter, or enters a value in a histogram. Costs next to nothing while metrics are off. */
export function record(
  name: InstrumentName,
  value: number,
  attributes: Attributes = NONE,
  context?: TelemetryContext,
): void {
  own?.record(name, value, attributes, context);
  findRecorder()?.record(name, value, attributes, context);
}

const NONE: Attributes = {};

function findRecorder(): Recorder | undefined {
  const api = telemetryApi();
  const meter = api && getMeter(api);
  if (meter === undefined) return undefined;
  if (registered?.meter !== meter) registered = new Recorder(meter);
  return registered;
}
