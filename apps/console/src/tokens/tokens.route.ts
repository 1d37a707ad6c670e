import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const tokensRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'tokens',
  component: lazyRouteComponent(() => import('./tokens.page.js'), 'TokensPage'),
});
