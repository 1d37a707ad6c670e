import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';
import { parseEventSearch } from './event-filters.js';

export const eventsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'events',
  validateSearch: parseEventSearch,
  component: lazyRouteComponent(() => import('./events.page.js'), 'EventsPage'),
});
