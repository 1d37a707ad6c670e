import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const browserSourcesRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'browser-sources',
  component: lazyRouteComponent(() => import('./browser-sources.page.js'), 'BrowserSourcesPage'),
});
