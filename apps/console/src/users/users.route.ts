import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const usersRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'users',
  component: lazyRouteComponent(() => import('./users.page.js'), 'UsersPage'),
});
