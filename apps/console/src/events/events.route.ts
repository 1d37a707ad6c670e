import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const eventsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'events',
  component: lazyRouteComponent(() => import('./events.page.js'), 'EventsPage'),
});
