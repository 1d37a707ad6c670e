import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

/** The chosen moment in the page's URL, as ISO 8601 times. */
export interface StreamSearch {
  since?: string;
  until?: string;
}

export const streamRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'streamers/$streamerId/streams/$streamId',
  validateSearch: ({ since, until }: Record<string, unknown>): StreamSearch =>
    isTime(since) && isTime(until) ? { since, until } : {},
  component: lazyRouteComponent(() => import('./stream.page.js'), 'StreamPage'),
});

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
