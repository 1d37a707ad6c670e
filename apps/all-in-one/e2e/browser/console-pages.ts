export interface ConsolePage {
  /** Path below `/console`. */
  path: string;
  title: string;
  /** The content has arrived when this element is visible. */
  element?: string;
}

/**
 * Every page of the console, except the pages to sign in and of a single streamer or stream. Add new pages here: the spec runs axe on each
 * page in both themes and sizes, and takes screenshots.
 */
export const consolePages: readonly ConsolePage[] = [
  { path: '/events', title: 'Events', element: '[aria-label="Events"] [role=option]' },
  { path: '/test-event?type=channel-raid', title: 'Send test event', element: 'input#event_viewers' },
  { path: '/streamers', title: 'Streamers', element: 'text=mira' },
  { path: '/onboarding', title: 'Get started', element: 'text=Get a link and a code' },
  { path: '/platform', title: 'Platform', element: 'text=Nothing is connected' },
  { path: '/platform?tab=consent', title: 'Platform', element: '[role=gridcell][data-state=granted]' },
  { path: '/platform?tab=event-types', title: 'Platform', element: 'text=stream online' },
  { path: '/platform?tab=subscriptions', title: 'Platform', element: 'table' },
  { path: '/platform?tab=status', title: 'Platform', element: 'text=How events arrive' },
  { path: '/account', title: 'Account', element: 'text=Replace the main token' },
  { path: '/system', title: 'System', element: 'text=platform-connector' },
  { path: '/system?tab=connections', title: 'System', element: 'table' },
  { path: '/system?tab=dead-letters', title: 'System', element: 'text=No dead letters' },
  { path: '/system?tab=erasures', title: 'System', element: 'text=Nobody was erased' },
  { path: '/tokens', title: 'Tokens', element: 'text=this session' },
  { path: '/users', title: 'Users', element: 'text=(you)' },
  { path: '/audit-log', title: 'Audit log', element: 'text=logged in' },
  { path: '/browser-sources', title: 'Browser sources', element: 'text=No source is connected' },
  { path: '/reference?q=chat', title: 'Reference', element: 'table' },
  { path: '/reference?tab=scopes&q=chat', title: 'Reference', element: 'table' },
];
