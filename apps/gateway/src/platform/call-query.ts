import { ServiceError } from '@stream-events/contracts';
import { validate as isUuid } from 'uuid';
import { queryTextOf } from '../http/paths.js';

/** The query of a platform call, split into the platform's parameters and the service's own. */
export interface CallQuery {
  /** The platform's parameters exactly as sent, percent-encoded. */
  query: string;
  connectionId: string | null;
}

/**
 * Takes the parameter `connection` out of the query.
 *
 * @throws ServiceError `invalid` when `connection` has several different values, or is not a UUID
 */
export function readCallQuery(url: string): CallQuery {
  const parameters = queryTextOf(url)
    .split('&')
    .filter((parameter) => parameter !== '');
  const ids = new Set<string>();
  const passed = parameters.filter((parameter) => {
    const [named] = new URLSearchParams(parameter);
    if (named?.[0] !== 'connection') return true;
    if (named[1] !== '') ids.add(named[1].toLowerCase());
    return false;
  });
  const [connectionId = null, ...others] = ids;
  if (others.length > 0) throw ServiceError.onField('connection', 'must name one connection');
  if (connectionId !== null && !isUuid(connectionId))
    throw ServiceError.onField('connection', 'must be the id of a connection');
  return { query: passed.join('&'), connectionId };
}
