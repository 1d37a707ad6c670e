import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const streamersRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'streamers',
  validateSearch: ({ q }: Record<string, unknown>): { q?: string } =>
    typeof q === 'string' && q !== '' ? { q } : {},
  component: lazyRouteComponent(() => import('./streamers.page.js'), 'StreamersPage'),
});
