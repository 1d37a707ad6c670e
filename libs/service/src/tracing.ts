import { loadConfig, type Variables } from './config.js';
import { tracingVariables } from './shared-variables.js';

/** The ids of a sampled span. Services send these ids in the header `traceparent` of W3C Trace Context. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
}

/** The attributes of a span, with the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Record<string, string | number>;

/** The role, the parent, and the attributes of a span. */
export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  /** The span that this span continues. Undefined: the span starts a new trace, if the sampler keeps the trace. */
  parent?: SpanIds | undefined;
  attributes?: SpanAttributes;
}

/** A piece of work in a sampled trace. */
export interface Span {
  readonly ids: SpanIds;
  /** Ends the span, which is then exported in the background. */
  end(result?: { attributes?: SpanAttributes; error?: unknown }): void;
}

/** Creates and exports spans. `OpenTelemetry` implements this interface in a module that is loaded only when traces are on. */
export interface Tracer {
  /** Starts a span. Returns undefined when the sampler drops the trace. */
  start(name: string, options: SpanOptions): Span | undefined;
  /** Exports the ended spans and stops. */
  close(): Promise<void>;
}

// Maximum number of kept spans. At this limit, the oldest span is dropped. Some kept spans are never continued: a known event, for example,
// is not published again.
const maxKept = 4_096;

/**
 * The traces of a service. Services pass on traces by explicit ids, because an implicit context would slow down every promise on Node 20.
 * To find the span to continue, code uses a key that it already has: the id of the HTTP request (the correlation id), or the id of the
 * event.
 *
 * ```
 *  HTTP request ──▶ request to the events service ──▶ store ──▶ publish to EVENTS ──▶ send to live clients
 *  kept by request id    header Event-Trace       kept by event id   header traceparent
 * ```
 */
export class Tracing {
  private readonly kept = new Map<string, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** Starts a span. Returns undefined when the span would begin a trace and the sampler drops the trace. */
  start(name: string, options: SpanOptions): Span | undefined {
    return this.tracer.start(name, options);
  }

  /** Keeps a span under a key, so that later work with the same key can continue the span. */
  keep(key: string, span: Span): void {
    if (this.kept.size >= maxKept)
      for (const oldest of this.kept.keys()) return this.replace(oldest, key, span);
    this.kept.set(key, span);
  }

  /** Returns the ids of the span that was kept under a key. */
  find(key: string | undefined): SpanIds | undefined {
    if (key === undefined || this.kept.size === 0) return undefined;
    return this.kept.get(key)?.ids;
  }

  /** Returns the span that was kept under a key, and removes the span. */
  take(key: string): Span | undefined {
    if (this.kept.size === 0) return undefined;
    const span = this.kept.get(key);
    if (span) this.kept.delete(key);
    return span;
  }

  /** Exports the ended spans and stops. */
  close(): Promise<void> {
    return this.tracer.close();
  }

  private replace(oldest: string, key: string, span: Span): void {
    this.kept.delete(oldest);
    this.kept.set(key, span);
  }
}

/**
 * Starts the traces of a service. Returns undefined when OTEL_EXPORTER_OTLP_ENDPOINT is not set, or when the service supports no traces.
 *
 * @param onFailure is called when the receiver does not accept spans, which are then lost
 */
export async function startTracing(
  { name, variables }: { name: string; variables: Variables },
  environment: NodeJS.ProcessEnv,
  onFailure: (error: unknown) => void,
): Promise<Tracing | undefined> {
  if (!('OTEL_EXPORTER_OTLP_ENDPOINT' in variables)) return undefined;
  const config = loadConfig(tracingVariables, environment);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName = name } = config;
  if (endpoint === undefined) return undefined;
  // Loading this module takes half a second and 15 MiB, so load it only when traces are on.
  const { OpenTelemetry } = await import('./open-telemetry.js');
  return new Tracing(
    new OpenTelemetry({
      endpoint,
      serviceName,
      headers: config.OTEL_EXPORTER_OTLP_HEADERS,
      sampler: config.OTEL_TRACES_SAMPLER,
      ratio: config.OTEL_TRACES_SAMPLER_ARG,
      onFailure,
    }),
  );
}

/** Returns the value of the header `traceparent` for a sampled span. */
export function printTraceparent({ traceId, spanId }: SpanIds): string {
  return `00-${traceId}-${spanId}-01`;
}

const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;
const sampledFlag = 1;

/** Parses the value of the header `traceparent`. Returns undefined when the value is malformed, or when the trace is not sampled. */
export function parseTraceparent(text: string | undefined): SpanIds | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparentPattern.exec(text ?? '') ?? [];
  if ((parseInt(flags, 16) & sampledFlag) === 0 || /^0*$/.test(traceId) || /^0*$/.test(spanId))
    return undefined;
  return { traceId, spanId };
}
