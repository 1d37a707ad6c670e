import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../layout/routes.js';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sign-in',
  /** Page to return to after sign-in, as a path below the console. */
  validateSearch: ({ from }: Record<string, unknown>): { from?: string } =>
    typeof from === 'string' && /^\/(?![/\\])/.test(from) ? { from } : {},
  component: lazyRouteComponent(() => import('./sign-in.page.js'), 'SignInPage'),
});
