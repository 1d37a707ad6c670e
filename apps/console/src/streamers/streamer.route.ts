import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../layout/routes.js';

/** The selected month (`2026-11`) or day (`2026-11-21`) in the page's URL. */
export interface StreamerSearch {
  month?: string;
  day?: string;
}

export const streamerRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'streamers/$streamerId',
  validateSearch: ({ month, day }: Record<string, unknown>): StreamerSearch => {
    if (typeof day === 'string' && isDay(day)) return { month: day.slice(0, 7), day };
    return typeof month === 'string' && isDay(`${month}-01`) ? { month } : {};
  },
  component: lazyRouteComponent(() => import('./streamer.page.js'), 'StreamerPage'),
});

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
