import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

/** The URL of the page: an event type, and the id of an event whose data to start from. */
export interface TestEventSearch {
  type?: string;
  from?: string;
}

export const testEventRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'test-event',
  validateSearch: ({ type, from }: Record<string, unknown>): TestEventSearch => ({
    ...(typeof type === 'string' && type !== '' && { type }),
    ...(typeof from === 'string' && from !== '' && { from }),
  }),
  component: lazyRouteComponent(() => import('./test-event.page.js'), 'TestEventPage'),
});
