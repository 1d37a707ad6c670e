import type { Contract } from '@stream-events/contracts';
import {
  parseTraceparent,
  printTraceparent,
  type Span,
  type SpanIds,
  type Tracing,
} from '@stream-events/service';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { correlationHeader } from './correlation.js';

/** The W3C Trace Context header on requests and on messages of the EVENTS stream. Only messages of sampled traces have it. */
export const traceparentHeader = 'traceparent';

/**
 * A batch has one of these headers for each event in a sampled trace, up to 64. The value is the event's id, a space, and the
 * `traceparent`.
 */
export const eventTraceHeader = 'Event-Trace';

// Maximum number of these headers on a request. A message may take 1 MiB, and the largest batch takes 1000 KiB of it. A header takes about
// 110 bytes, so 64 always fit.
const maxEventTraces = 64;

/** An event in a request, and the span that the handler continues for this event. */
export interface EventTrace {
  id: string;
  parent: SpanIds;
}

/** The spans of one message, which end together. */
export interface MessageSpans {
  end(error?: unknown): void;
}

const tracingByConnection = new WeakMap<NatsConnection, Tracing>();

/** Turns on tracing for a connection's messages. */
export function traceConnection(connection: NatsConnection, tracing: Tracing): void {
  tracingByConnection.set(connection, tracing);
}

/** Returns undefined when tracing is off. */
export function tracingOf(connection: NatsConnection): Tracing | undefined {
  return tracingByConnection.get(connection);
}

/** Starts the spans of an outgoing request, and sets the headers with which the handler continues them. */
export function traceRequest(
  tracing: Tracing,
  { subject }: Contract<object, object>,
  { correlationId, eventTraces = [] }: { correlationId?: string; eventTraces?: readonly EventTrace[] },
  headersOf: () => MsgHdrs,
): MessageSpans {
  const spans: Span[] = [];
  const start = (parent: SpanIds): Span | undefined => {
    const span = tracing.start(`send ${subject}`, {
      kind: 'client',
      parent,
      attributes: attributesOf(subject),
    });
    if (span) spans.push(span);
    return span;
  };
  const parent = tracing.find(correlationId);
  const span = parent && start(parent);
  if (span) headersOf().set(traceparentHeader, printTraceparent(span.ids));
  for (const event of eventTraces.slice(0, maxEventTraces)) {
    const eventSpan = start(event.parent);
    if (eventSpan) headersOf().append(eventTraceHeader, `${event.id} ${printTraceparent(eventSpan.ids)}`);
  }
  return { end: (error) => endAll(spans, error) };
}

/** Starts the spans of an incoming request; undefined when it belongs to no sampled trace. */
export function traceHandling(
  tracing: Tracing,
  subject: string,
  messageHeaders: MsgHdrs | undefined,
): MessageSpans | undefined {
  if (!messageHeaders) return undefined;
  const parent = parseTraceparent(messageHeaders.get(traceparentHeader));
  const events = messageHeaders.values(eventTraceHeader);
  if (!parent && events.length === 0) return undefined;
  const spans: Span[] = [];
  const start = (continued: SpanIds, key: string): void => {
    const options = { kind: 'server', parent: continued, attributes: attributesOf(subject) } as const;
    const span = tracing.start(`handle ${subject}`, options);
    if (!span) return;
    spans.push(span);
    if (key !== '') tracing.keep(key, span);
  };
  const correlationId = messageHeaders.get(correlationHeader);
  if (parent) start(parent, correlationId);
  for (const text of events) {
    const [id = '', traceparent] = text.split(' ');
    const continued = parseTraceparent(traceparent);
    // Keep the event's span beyond this request, because the event is published later, in the background.
    if (continued) start(continued, id);
  }
  return {
    end: (error) => {
      if (parent && correlationId !== '') tracing.take(correlationId);
      endAll(spans, error);
    },
  };
}

/** A message for a stream, which may get a `traceparent` header. */
interface Publishable {
  subject: string;
  messageId: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * For each message whose id has a kept span, starts a span that continues it, and adds a `traceparent` header. Returns all messages, and
 * the spans that it started.
 */
export function tracePublishing<M extends Publishable>(
  tracing: Tracing,
  messages: readonly M[],
): { messages: readonly M[]; spans: MessageSpans } {
  const spans: Span[] = [];
  const traced = messages.map((message) => {
    const parent = tracing.take(message.messageId)?.ids;
    if (!parent) return message;
    const { subject } = message;
    const span = tracing.start('publish to the stream', {
      kind: 'producer',
      parent,
      attributes: attributesOf(subject),
    });
    if (!span) return message;
    spans.push(span);
    const headers = { ...message.headers, [traceparentHeader]: printTraceparent(span.ids) };
    return { ...message, headers };
  });
  return { messages: traced, spans: { end: (error) => endAll(spans, error) } };
}

/** Returns the span that a received message continues; undefined when it belongs to no sampled trace. */
export function readTrace({ headers }: { headers?: MsgHdrs | undefined }): SpanIds | undefined {
  return headers ? parseTraceparent(headers.get(traceparentHeader)) : undefined;
}

function attributesOf(subject: string): Record<string, string> {
  return { 'messaging.system': 'nats', 'messaging.destination.name': subject };
}

function endAll(spans: readonly Span[], error: unknown): void {
  for (const span of spans) span.end(error === undefined ? {} : { error });
}
