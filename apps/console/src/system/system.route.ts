import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

/** The URL contains the selected tab. */
export const systemTabs = ['overview', 'connections', 'dead-letters', 'erasures'] as const;
export type SystemTab = (typeof systemTabs)[number];

export const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'system',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: SystemTab } => {
    const known = systemTabs.find((each) => each === tab);
    return known ? { tab: known } : {};
  },
  component: lazyRouteComponent(() => import('./system.page.js'), 'SystemPage'),
});
