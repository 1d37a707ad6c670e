import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

/** The URL contains the selected tab. */
export const platformTabs = ['connections', 'consent', 'event-types', 'subscriptions', 'status'] as const;
export type PlatformTab = (typeof platformTabs)[number];

/** Filters of the subscription list, named as in the API. */
export const subscriptionFilterNames = ['status', 'event_type', 'channel_id'] as const;
export type SubscriptionFilters = Partial<Record<(typeof subscriptionFilterNames)[number], string>>;

export type PlatformSearch = SubscriptionFilters & { tab?: PlatformTab };

export const platformRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'platform',
  validateSearch: (search: Record<string, unknown>): PlatformSearch => {
    const tab = platformTabs.find((each) => each === search.tab);
    const filters: SubscriptionFilters = {};
    for (const name of subscriptionFilterNames) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') filters[name] = value;
    }
    return { ...(tab && { tab }), ...filters };
  },
  component: lazyRouteComponent(() => import('./platform.page.js'), 'PlatformPage'),
});
