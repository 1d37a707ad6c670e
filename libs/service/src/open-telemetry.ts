import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { SamplerName } from './shared-variables.js';
import type { Span, SpanOptions, Tracer } from './tracing.js';
import { toLoggedError } from './logger.js';
import { version } from './version.js';
import { within } from './within.js';

export interface OpenTelemetryOptions {
  /** Base address of an OTLP/HTTP receiver. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerName;
  /** Share of the traces that a ratio sampler keeps, from 0 to 1. */
  ratio: number;
  /** Called for each batch of spans that could not be exported after all attempts. */
  onFailure: (error: unknown) => void;
}

// How long `close` waits. This is enough to export the waiting spans; a receiver that is down must not block the shutdown.
const closeLimitMs = 2_000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Creates spans with OpenTelemetry, and exports them over OTLP/HTTP as JSON. Drops spans that the receiver does not accept. */
export class OpenTelemetry implements Tracer {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: OtelTracer;

  constructor({ endpoint, headers, serviceName, sampler, ratio, onFailure }: OpenTelemetryOptions) {
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers });
    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
      sampler: toSampler(sampler, ratio),
      spanProcessors: [new BatchSpanProcessor(reporting(exporter, onFailure))],
    });
    this.tracer = this.provider.getTracer('stream-event-service', version);
  }

  start(name: string, { kind, parent, attributes = {} }: SpanOptions): Span | undefined {
    const context = parent
      ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true })
      : ROOT_CONTEXT;
    const span = this.tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
    if (!span.isRecording()) return undefined;
    return {
      ids: span.spanContext(),
      end: ({ attributes: more = {}, error } = {}) => {
        span.setAttributes(more);
        if (error !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: toLoggedError(error).message });
        }
        span.end();
      },
    };
  }

  close(): Promise<void> {
    return within(closeLimitMs, this.provider.shutdown());
  }
}

/** Reports failed exports, because the library itself does not report spans that it cannot export. */
function reporting(exporter: SpanExporter, onFailure: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, onResult) =>
      exporter.export(spans, (result) => {
        if (result.error) onFailure(result.error);
        onResult(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function toSampler(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
