import { ServiceError, type ListSubscriptionsRequest } from '@stream-events/contracts';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';

/** A list that was asked for: the request to the platform connector, and what its cursors are bound to. */
export interface SubscriptionListQuery {
  request: ListSubscriptionsRequest;
  /** Path and filter. */
  list: string;
}

/**
 * Reads the query of the list of subscriptions. An empty status is no filter; unknown parameters are ignored.
 *
 * @throws ServiceError `invalid` with every fault by parameter
 */
export function parseSubscriptionListQuery(parameters: Parameters): SubscriptionListQuery {
  const faults = new ParameterFaults();
  const status = faults.attempt(() => parseStatus(parameters.status));
  const list = JSON.stringify(['platform/subscriptions', status ?? null]);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return { list, request: { ...(status !== undefined && { status }), ...page } };
}

/** The platform may add statuses without notice, but all are of this form. */
function parseStatus(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (!/^\w{1,255}$/.test(value))
    throw ServiceError.onField('status', 'must be a status: letters, digits and underscores');
  return value;
}
