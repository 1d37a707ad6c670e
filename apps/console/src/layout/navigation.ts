import {
  IconActivity,
  IconBook2,
  IconBroadcast,
  IconBrowser,
  IconKey,
  IconListDetails,
  IconPlug,
  IconSend,
  IconServer2,
  IconUsers,
  type Icon,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';

export interface NavigationItem {
  to: NonNullable<LinkProps['to']>;
  title: string;
  icon: Icon;
  /** Second key of the shortcut `g <key>`. */
  key: string;
  isForOwners?: boolean;
}

/** Most used pages first. */
export const navigation: readonly NavigationItem[] = [
  { to: '/events', title: 'Events', icon: IconActivity, key: 'e' },
  { to: '/streamers', title: 'Streamers', icon: IconBroadcast, key: 'l' },
  { to: '/test-event', title: 'Send test event', icon: IconSend, key: 't' },
  { to: '/browser-sources', title: 'Browser sources', icon: IconBrowser, key: 'b' },
  { to: '/platform', title: 'Platform', icon: IconPlug, key: 'p' },
  { to: '/reference', title: 'Reference', icon: IconBook2, key: 'r' },
  { to: '/system', title: 'System', icon: IconServer2, key: 's', isForOwners: true },
  { to: '/tokens', title: 'Tokens', icon: IconKey, key: 'k' },
  { to: '/users', title: 'Users', icon: IconUsers, key: 'u', isForOwners: true },
  { to: '/audit-log', title: 'Audit log', icon: IconListDetails, key: 'a', isForOwners: true },
];
