import { ActionIcon, Group, Menu, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconKeyboard, IconLogout, IconRocket, IconSelector, IconUserCog } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api } from '../api/api.js';
import { onboardingQuery } from '../api/onboarding.js';
import { currentUserQuery } from '../api/queries.js';
import logo from '../icon.svg';
import { useShortcuts } from '../kit/shortcuts.js';
import { SimulationBadge } from '../kit/simulation-badge.js';
import { sessionStore, useSession } from '../session/session.js';
import { ColorSchemeButton } from './color-scheme-button.js';
import classes from './layout.module.css';
import { LiveStatus } from './live-status.js';
import { navigation } from './navigation.js';
import { ShortcutsDialog } from './shortcuts-dialog.js';

const signOutLimitMs = 3_000;

export function Sidebar({ onNavigate }: { onNavigate: () => void }) {
  const navigate = useNavigate();
  const { data: user } = useQuery(currentUserQuery);
  const { data: needsGuide = false } = useQuery(onboardingQuery);
  const [isHelpOpen, help] = useDisclosure();
  const items = navigation.filter(({ isForOwners }) => !isForOwners || user?.role === 'owner');
  useShortcuts([
    ...navigation.map(({ to, title, key }) => ({
      keys: `g ${key}`,
      title: `Go to ${title}`,
      run: () => void navigate({ to }),
    })),
    { keys: '?', title: 'Show the shortcuts', run: help.open },
  ]);
  return (
    <>
      <div className={classes.brand}>
        <img src={logo} width={24} height={24} alt="" />
        Stream events
      </div>
      <ul className={classes.links}>
        {needsGuide && (
          <li>
            <Link to="/onboarding" className={classes.link} onClick={onNavigate}>
              <IconRocket size={17} stroke={1.7} aria-hidden />
              Get started
            </Link>
          </li>
        )}
        {items.map(({ to, title, icon: Symbol }) => (
          <li key={to}>
            <Link to={to} className={classes.link} onClick={onNavigate}>
              <Symbol size={17} stroke={1.7} aria-hidden />
              {title}
            </Link>
          </li>
        ))}
      </ul>
      <div className={classes.foot}>
        <Group justify="space-between">
          <LiveStatus />
          <SimulationBadge />
        </Group>
        <Group justify="space-between" wrap="nowrap">
          <UserMenu onNavigate={onNavigate} />
          <Group gap={4} wrap="nowrap">
            <ColorSchemeButton />
            <Tooltip label="Keyboard shortcuts (?)">
              <ActionIcon variant="subtle" color="gray" aria-label="Keyboard shortcuts" onClick={help.open}>
                <IconKeyboard size={17} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </Group>
      </div>
      <ShortcutsDialog isOpen={isHelpOpen} onClose={help.close} />
    </>
  );
}

function UserMenu({ onNavigate }: { onNavigate: () => void }) {
  const navigate = useNavigate();
  const session = useSession();
  const signOut = async (): Promise<void> => {
    // Sign out even if the request fails: the user wants to leave, and the token expires by itself.
    await api()
      .DELETE('/api/v1/sessions/current', { signal: AbortSignal.timeout(signOutLimitMs) })
      .catch(() => undefined);
    sessionStore.end();
  };
  return (
    <Menu position="top-start" width={180}>
      <Menu.Target>
        <UnstyledButton aria-label={`Account of ${session?.username}`}>
          <Group gap={6} wrap="nowrap">
            <Text size="sm" truncate maw={90}>
              {session?.username}
            </Text>
            <IconSelector size={14} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconUserCog size={15} />}
          onClick={() => {
            onNavigate();
            void navigate({ to: '/account' });
          }}
        >
          Account
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
