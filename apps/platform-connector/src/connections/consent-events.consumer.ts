import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable } from '@nestjs/common';
import {
  DurableConsumer,
  EVENTS_CONNECTION,
  platformEvents,
  type DeliveredMessage,
  type Outcome,
} from '@stream-events/messaging';
import { LOGGER, Registry, type Logger } from '@stream-events/service';
import { ConnectionConsequences } from './connection-consequences.service.js';
import { readConsentEvent } from './consent-event.external.js';

const maxRetryDelayMs = 30_000;

/**
 * Reacts when users give or withdraw consent. All instances share the durable consumer, which keeps messages while no instance is running.
 *
 * Idempotent: a message only makes the service read the user's current consent, so duplicates and reordering are harmless.
 */
@Injectable()
export class ConsentEventsConsumer {
  private readonly consumer: DurableConsumer;

  constructor(
    @Inject(EVENTS_CONNECTION) connection: NatsConnection,
    private readonly consequences: ConnectionConsequences,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const handling = { maxInFlight: 1, handle: (message: DeliveredMessage) => this.onMessage(message) };
    const events = platformEvents('platform-connector-consents');
    this.consumer = new DurableConsumer(
      connection,
      { ...events, handling, maxRetryDelayMs, metrics },
      logger,
    );
  }

  start(): void {
    this.consumer.start();
  }

  /** Stops after the current message. Waits up to 3 s for it. */
  stop(): Promise<void> {
    return this.consumer.stop();
  }

  private async onMessage(message: DeliveredMessage): Promise<Outcome> {
    const event = readConsentEvent(message.string());
    if (event?.change === 'granted') await this.consequences.onGranted(event.userId);
    if (event?.change === 'revoked') await this.consequences.onRevoked([event.userId]);
    return 'done';
  }
}
