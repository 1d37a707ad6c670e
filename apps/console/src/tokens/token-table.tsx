import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { streamersQuery } from '../api/queries.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import { sessionStore, useSession } from '../session/session.js';
import { EditToken } from './edit-token.js';
import { textOfScope } from './token-scopes.js';
import { tokensKey, tokensQuery } from './tokens-query.js';

type Token = components['schemas']['TokenRecord'];

/** Lists a user's tokens, with buttons to change and revoke them. */
export function TokenTable({ userId }: { userId?: string }) {
  const queries = useQueryClient();
  const session = useSession();
  const query = useQuery(tokensQuery(userId));
  const [edited, setEdited] = useState<Token>();
  const [revoked, setRevoked] = useState<Token>();
  const columns: readonly Column<Token>[] = [
    {
      title: 'Token',
      kind: 'title',
      render: (token) => <Name token={token} isThis={token.id === session?.id} />,
    },
    { title: 'Allows', render: (token) => <Rights token={token} /> },
    { title: 'Limited to', render: (token) => <Limits token={token} /> },
    { title: 'Last used', render: ({ last_used }) => (last_used ? <Time value={last_used} /> : 'never') },
    { title: 'Expires', render: ({ expires }) => (expires ? <Time value={expires} /> : 'never') },
    {
      title: 'Actions',
      kind: 'actions',
      render: (token) => (
        <Group gap={6} justify="flex-end" wrap="nowrap">
          {token.kind === 'named' && (
            <Button size="compact-xs" variant="default" onClick={() => setEdited(token)}>
              Edit
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={() => setRevoked(token)}>
            Revoke…
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <QueryView query={query}>
      {(tokens) => (
        <>
          <DataTable label="Tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />
          {edited && <EditToken token={edited} onClose={() => setEdited(undefined)} />}
          {revoked && (
            <ConfirmDialog
              title="Revoke the token?"
              action="Revoke"
              onClose={() => setRevoked(undefined)}
              onConfirm={async () => {
                await call(api().DELETE('/api/v1/tokens/{id}', { params: { path: { id: revoked.id } } }));
                if (revoked.id === session?.id) sessionStore.end();
                else await queries.invalidateQueries({ queryKey: tokensKey });
              }}
            >
              <Consequence token={revoked} isThis={revoked.id === session?.id} />
            </ConfirmDialog>
          )}
        </>
      )}
    </QueryView>
  );
}

function Name({ token: { kind, name, key_start, created }, isThis }: { token: Token; isThis: boolean }) {
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <UserText text={nameOf(kind, name)} />
        {isThis && (
          <Badge size="xs" radius="sm" variant="default">
            this session
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" fw={400}>
        <code>{key_start}…</code> since <Time value={created} />
      </Text>
    </>
  );
}

function nameOf(kind: Token['kind'], name: string): string {
  if (kind === 'main') return 'Main token';
  return kind === 'session' ? 'Session in a browser' : name;
}

function Rights({ token: { scopes } }: { token: Token }) {
  if (scopes === null) return 'Everything that the user may do';
  return (
    <Stack gap={0}>
      {scopes.map((scope) => (
        <span key={scope}>{textOfScope(scope)}</span>
      ))}
    </Stack>
  );
}

function Limits({ token: { event_types: types, channel_ids: channels } }: { token: Token }) {
  const { data: streamers = [] } = useQuery({ ...streamersQuery, enabled: channels !== null });
  const channelName = (id: string): string =>
    streamers.find(({ platform_id }) => platform_id === id)?.platform_username ?? `channel ${id}`;
  if (types === null && channels === null) return 'no limit';
  return (
    <Stack gap={0}>
      {types?.map((type) => (
        <UserText key={type} text={type} />
      ))}
      {channels?.map((id) => (
        <UserText key={id} text={channelName(id)} />
      ))}
    </Stack>
  );
}

/** Explains what happens when the token is revoked. */
function Consequence({ token: { kind, name }, isThis }: { token: Token; isThis: boolean }) {
  if (isThis) return 'You are signed out immediately, and must sign in again with your password.';
  if (kind === 'session') return 'The browser with this session is signed out within a second.';
  if (kind === 'main')
    return 'Every program with the main token loses its access within a second. Logging in with the password creates a new main token.';
  return (
    <>
      Every program with the token <UserText text={name} /> loses its access within a second, and its live
      connections are closed. The key cannot be restored.
    </>
  );
}
