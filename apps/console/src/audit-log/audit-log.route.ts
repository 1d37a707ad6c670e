import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

export const auditLogRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'audit-log',
  component: lazyRouteComponent(() => import('./audit-log.page.js'), 'AuditLogPage'),
});
