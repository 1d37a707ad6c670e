import { loadConfig, type Variables } from './config.js';
import { tracingVariables } from './shared-variables.js';

/** The ids of a sampled span. Services send them in the W3C Trace Context header `traceparent`. */
export interface SpanIds {
  /** In hexadecimal, 32 digits. */
  traceId: string;
  /** In hexadecimal, 16 digits. */
  spanId: string;
}

/** Span attributes, named after OpenTelemetry's semantic conventions. */
export type SpanAttributes = Record<string, string | number>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  /** The span that this span continues. When undefined, the span starts a new trace if the sampler selects it. */
  parent?: SpanIds | undefined;
  attributes?: SpanAttributes;
}

export interface Span {
  readonly ids: SpanIds;
  /** Ends the span. A background task exports it. */
  end(result?: { attributes?: SpanAttributes; error?: unknown }): void;
}

/** Creates and exports spans. The implementation (`OpenTelemetry`) is in a separate module that is loaded only when traces are on. */
export interface Tracer {
  /** Starts a span. Returns undefined when the sampler does not select the trace. */
  start(name: string, options: SpanOptions): Span | undefined;
  /** Exports the spans that have ended, then stops. */
  close(): Promise<void>;
}

// Maximum number of kept spans. Some are never continued (a known event, for example, is not published again), so at this limit the oldest
// span is dropped.
const maxKept = 4_096;

/**
 * The traces of a service. Code finds the span to continue by a key that it already has: the id of the HTTP request (the correlation id) or
 * the id of the event. An implicit context would need no keys, but slows down every promise on Node 20.
 *
 * ```
 *  HTTP request ──▶ request to the events service ──▶ store ──▶ publish to EVENTS ──▶ send to live clients
 *  kept by request id    header Event-Trace       kept by event id   header traceparent
 * ```
 */
export class Tracing {
  private readonly kept = new Map<string, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** Starts a span. Returns undefined when the span would begin a trace that the sampler does not select. */
  start(name: string, options: SpanOptions): Span | undefined {
    return this.tracer.start(name, options);
  }

  /** Keeps a span under a key, so that later work with the same key can continue the span. */
  keep(key: string, span: Span): void {
    if (this.kept.size >= maxKept)
      for (const oldest of this.kept.keys()) return this.replace(oldest, key, span);
    this.kept.set(key, span);
  }

  find(key: string | undefined): SpanIds | undefined {
    if (key === undefined || this.kept.size === 0) return undefined;
    return this.kept.get(key)?.ids;
  }

  /** Returns the span that was kept under a key, and stops keeping it. */
  take(key: string): Span | undefined {
    if (this.kept.size === 0) return undefined;
    const span = this.kept.get(key);
    if (span) this.kept.delete(key);
    return span;
  }

  close(): Promise<void> {
    return this.tracer.close();
  }

  private replace(oldest: string, key: string, span: Span): void {
    this.kept.delete(oldest);
    this.kept.set(key, span);
  }
}

/**
 * Starts the traces of a service. Returns undefined when OTEL_EXPORTER_OTLP_ENDPOINT is not set, or when the service does not declare that
 * variable.
 *
 * @param onFailure called when spans are lost because the receiver did not accept them
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
  // Load this module only when traces are on: loading takes half a second and 15 MiB.
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

export function printTraceparent({ traceId, spanId }: SpanIds): string {
  return `00-${traceId}-${spanId}-01`;
}

const traceparentPattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;
const sampledFlag = 1;

/** Parses a `traceparent` header. Returns undefined when the header is malformed or the trace is not sampled. */
export function parseTraceparent(text: string | undefined): SpanIds | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparentPattern.exec(text ?? '') ?? [];
  if ((parseInt(flags, 16) & sampledFlag) === 0 || /^0*$/.test(traceId) || /^0*$/.test(spanId))
    return undefined;
  return { traceId, spanId };
}
