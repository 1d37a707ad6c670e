import { AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { streamersQuery } from '../api/queries.js';
import { SimulationBadge } from '../kit/simulation-badge.js';
import { useLiveEvents } from '../live/live.js';
import classes from './layout.module.css';
import { LiveStatus } from './live-status.js';
import { Sidebar } from './sidebar.js';

const headerHeight = 48;

/** All pages follow these events to know who is live. The state of this live connection also shows whether the service responds. */
export const streamEvents = { event_types: 'stream-online,stream-offline,channel-update' };

export function Layout() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const queries = useQueryClient();
  useLiveEvents(streamEvents, {
    onEvents: () => void queries.invalidateQueries({ queryKey: streamersQuery.queryKey }),
    // Refresh everything: while the service was down, reads failed, and data can have changed.
    onConnect: () => void queries.invalidateQueries(),
  });
  return (
    <AppShell
      header={{ height: { base: headerHeight, sm: 0 } }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
    >
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="sm" gap="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Navigation" aria-expanded={isOpen} />
          <Text fw={600}>Stream events</Text>
          <SimulationBadge />
          <Group ml="auto">
            <LiveStatus />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Main">
        <Sidebar onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
