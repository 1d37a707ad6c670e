import { ConflictException, HttpException, HttpStatus } from '@nestjs/common';
import type { Owner } from '../oauth/tokens.js';
import { addressOf } from '../transports/transport.js';
import type { SubscriptionRegistry } from './subscription-registry.js';
import { isLiving, type Subscription, type SubscriptionView } from './subscription.js';

// Maximum subscriptions with the same type and condition (FACTS.md §4.5).
const maxAlike = 3;

// Limits of a user access token (FACTS.md §2).
const maxSockets = 3;
const maxPerSocket = 300;
export const maxSocketCost = 10;

/**
 * Rejects duplicates and subscriptions over the limits. Replaces an ended duplicate, which keeps the list bounded.
 *
 * @throws ConflictException with the id of the existing subscription
 * @throws HttpException with status 429 if a limit is exceeded
 */
export function makeRoom(
  registry: SubscriptionRegistry,
  { owner, view, maxCost }: { owner: Owner; view: SubscriptionView; maxCost: number },
): void {
  const alike = registry.findAlike(owner, view);
  const living = alike.filter((other) => isLiving(other.view));
  const isTwin = (other: Subscription): boolean =>
    addressOf(other.view.transport) === addressOf(view.transport);
  const twin = living.find(isTwin);
  if (twin) {
    const message = 'subscription already exists';
    throw new ConflictException({ error: 'Conflict', status: 409, message, id: twin.view.id });
  }
  if (living.length >= maxAlike) refuse('maximum subscriptions with type and condition exceeded');
  if (view.cost > 0 && registry.totalCost(owner) + view.cost > maxCost) {
    refuse(`over the limit: total cost ${maxCost}`);
  }
  if (view.transport.method === 'websocket')
    checkSocketLimits(registry.list(owner), view.transport.session_id);
  for (const other of alike) if (!living.includes(other) && isTwin(other)) registry.remove(other);
}

function checkSocketLimits(subscriptions: readonly Subscription[], sessionId: string): void {
  const sessions = subscriptions
    .filter(({ view }) => view.status === 'enabled')
    .map(({ view }) => addressOf(view.transport));
  const others = new Set(sessions.filter((id) => id !== sessionId));
  if (others.size >= maxSockets) refuse('number of websocket transports limit exceeded');
  if (sessions.filter((id) => id === sessionId).length >= maxPerSocket) {
    refuse(`over the limit: ${maxPerSocket} subscriptions per websocket`);
  }
}

function refuse(message: string): never {
  throw new HttpException(message, HttpStatus.TOO_MANY_REQUESTS);
}
