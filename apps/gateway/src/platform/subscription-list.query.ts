import { ServiceError, type ListSubscriptionsRequest } from '@stream-events/contracts';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';

/** A parsed query: the request to the platform connector, and the list that its cursors are bound to. */
export interface SubscriptionListQuery {
  request: ListSubscriptionsRequest;
  /** The path and the filter. */
  list: string;
}

/**
 * Parses the query of the list of subscriptions. Treats an empty status as no filter and ignores unknown parameters.
 *
 * @throws ServiceError `invalid` with all errors, by parameter
 */
export function parseSubscriptionListQuery(parameters: Parameters): SubscriptionListQuery {
  const faults = new ParameterFaults();
  const status = faults.attempt(() => parseStatus(parameters.status));
  const list = JSON.stringify(['platform/subscriptions', status ?? null]);
  const page = parsePage(parameters, list, faults);
  faults.throwIfAny();
  return { list, request: { ...(status !== undefined && { status }), ...page } };
}

/** Checks only the form, because the platform may add statuses without notice. */
function parseStatus(value: string | undefined): string | undefined {
  if (!value) return undefined;
  if (!/^\w{1,255}$/.test(value))
    throw ServiceError.onField('status', 'must be 1 to 255 letters, digits, or underscores');
  return value;
}
