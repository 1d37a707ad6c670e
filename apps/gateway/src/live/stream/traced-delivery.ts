import { readTrace } from '@stream-events/messaging';
import type { Span, Tracing } from '@stream-events/service';
import type { JsMsg } from '@nats-io/jetstream';

/** The span of an event on its way from the EVENTS stream to the sockets of live clients. Only events in sampled traces have a span. */
export class TracedDelivery {
  private clients = 0;

  private constructor(private readonly span: Span) {}

  /** Continues the trace of a message. Returns undefined if the message is not part of a sampled trace. */
  static start(tracing: Tracing, message: Pick<JsMsg, 'headers' | 'subject'>): TracedDelivery | undefined {
    const parent = readTrace(message);
    const attributes = { 'messaging.system': 'nats', 'messaging.destination.name': message.subject };
    const span = parent && tracing.start('deliver live', { kind: 'consumer', parent, attributes });
    return span && new TracedDelivery(span);
  }

  noteClients(count: number): void {
    this.clients += count;
  }

  /** Ends the span. Called when the event has been written to the sockets of all its clients. */
  end(): void {
    this.span.end({ attributes: { 'live.clients': this.clients } });
  }
}
