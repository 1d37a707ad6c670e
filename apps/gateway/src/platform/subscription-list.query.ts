import { platformIdPattern, ServiceError, type ListSubscriptionsRequest } from '@stream-events/contracts';
import { findByAnyName } from '@stream-events/platforms';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';

/** A parsed query for the platform connector. */
export interface SubscriptionListQuery {
  request: ListSubscriptionsRequest;
  /** The path and filters, to which cursors are bound. */
  list: string;
}

/**
 * Parses the query of the subscription list. Ignores empty values and unknown parameters.
 *
 * @throws ServiceError `invalid` with all errors, by parameter
 */
export function parseSubscriptionListQuery(parameters: Parameters): SubscriptionListQuery {
  const faults = new ParameterFaults();
  const status = faults.attempt(() => parseStatus(parameters.status));
  const type = faults.attempt(() => parseType(parameters.event_type));
  const channelId = faults.attempt(() => parseChannelId(parameters.channel_id));
  const list = JSON.stringify(['platform/subscriptions', status ?? null, type ?? null, channelId ?? null]);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return {
    list,
    request: {
      ...(status !== undefined && { status }),
      ...(type !== undefined && { type }),
      ...(channelId !== undefined && { channelId }),
      ...page,
    },
  };
}

/** Accepts unknown statuses in a valid form, because the platform can add statuses without notice. */
function parseStatus(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (!/^\w{1,255}$/.test(value))
    throw ServiceError.onField('status', 'must be 1 to 255 letters, digits, or underscores');
  return value;
}

function parseType(name: string | undefined): string | undefined {
  if (!name) return undefined;
  const row = findByAnyName(name);
  if (!row) throw ServiceError.onField('event_type', 'is not an event type of the platform');
  return row.type;
}

function parseChannelId(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (!platformIdPattern.test(value))
    throw ServiceError.onField('channel_id', 'must be an id of the platform');
  return value;
}
