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

/**
 * The header of W3C Trace Context, on requests and on the messages of the EVENTS stream. Only messages of sampled traces have this header.
 */
export const traceparentHeader = 'traceparent';

/**
 * A batch has one header with this name for each event in a sampled trace. The value of the header is the id of the event, a space, and the
 * `traceparent`.
 */
export const eventTraceHeader = 'Event-Trace';

// Maximum number of these headers on a request. A message has at most 1 MiB, of which the largest batch takes 1000 KiB. A header has about
// 110 bytes, so 64 headers always fit.
const maxEventTraces = 64;

/** An event of a request, and the span that it continues. */
export interface EventTrace {
  id: string;
  parent: SpanIds;
}

/** The spans of one message, which end together. */
export interface MessageSpans {
  end(error?: unknown): void;
}

const tracingByConnection = new WeakMap<NatsConnection, Tracing>();

/** Turns on tracing for the messages of a connection. */
export function traceConnection(connection: NatsConnection, tracing: Tracing): void {
  tracingByConnection.set(connection, tracing);
}

/** Returns the tracing of a connection. Undefined when traces are off. */
export function tracingOf(connection: NatsConnection): Tracing | undefined {
  return tracingByConnection.get(connection);
}

/** Starts the spans of a request that is being sent, and sets the headers that let the handler continue the spans. */
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

/** Starts the spans of a request that is being handled. Returns undefined when the request does not belong to a sampled trace. */
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
    // The event's span stays available after this request, because the event is published in the background.
    if (continued) start(continued, id);
  }
  return {
    end: (error) => {
      if (parent && correlationId !== '') tracing.take(correlationId);
      endAll(spans, error);
    },
  };
}

/** A message for a stream, whose headers may get a `traceparent`. */
interface Publishable {
  subject: string;
  messageId: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * For each message whose id has a kept span, starts a span that continues the kept span, and adds the header `traceparent`. Returns all
 * messages, and the started spans.
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

/** Returns the span that a received message continues. Returns undefined when the message does not belong to a sampled trace. */
export function readTrace({ headers }: { headers?: MsgHdrs | undefined }): SpanIds | undefined {
  return headers ? parseTraceparent(headers.get(traceparentHeader)) : undefined;
}

function attributesOf(subject: string): Record<string, string> {
  return { 'messaging.system': 'nats', 'messaging.destination.name': subject };
}

function endAll(spans: readonly Span[], error: unknown): void {
  for (const span of spans) span.end(error === undefined ? {} : { error });
}
