import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { components } from '@stream-events/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { describeFault } from '../api/api-error.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { parseTime } from '../kit/parse-time.js';
import { printUserText } from '../kit/print-user-text.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { useNow } from '../kit/use-now.js';
import { UserText } from '../kit/user-text.js';
import { EditToken } from '../tokens/edit-token.js';
import { toExpires } from '../tokens/token-fields.js';
import { tokensKey, tokensQuery } from '../tokens/tokens-query.js';
import { sourceDays } from './source-address.js';

type Token = components['schemas']['TokenRecord'];

// The service raises its alarm at the same time.
const soonMs = 30 * 86_400_000;
const minuteMs = 60_000;

/** Lists the addresses of browser sources by their tokens, with buttons to renew and change them. */
export function SourceAddresses() {
  const query = useQuery(tokensQuery());
  const [edited, setEdited] = useState<Token>();
  const columns: readonly Column<Token>[] = [
    { title: 'Address', kind: 'title', render: ({ name }) => <UserText text={name} /> },
    { title: 'Alerts', render: ({ event_types: types }) => types?.join(', ') ?? 'all event types' },
    { title: 'Expires', render: ({ expires }) => <Expiry expires={expires} /> },
    {
      title: 'Actions',
      kind: 'actions',
      render: (token) => (
        <Group gap={6} justify="flex-end" wrap="nowrap">
          {token.expires !== null && <RenewButton token={token} />}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Edit: ${printUserText(token.name)}`}
            onClick={() => setEdited(token)}
          >
            Edit
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <QueryView query={query}>
      {(tokens) => {
        const sources = tokens.filter(isSource);
        return (
          <>
            {sources.length === 0 ? (
              <Text size="sm" c="dimmed">
                You have not created an address yet.
              </Text>
            ) : (
              <DataTable label="Your addresses" columns={columns} rows={sources} keyOf={({ id }) => id} />
            )}
            {edited && <EditToken token={edited} onClose={() => setEdited(undefined)} />}
          </>
        );
      }}
    </QueryView>
  );
}

/** Whether a token is one of a browser source: it can receive the live events of chosen channels. The service's alarm has the same rule. */
function isSource({ scopes, channel_ids: channels }: Token): boolean {
  return channels !== null && scopes?.includes('events:live') === true;
}

function Expiry({ expires }: Pick<Token, 'expires'>) {
  const now = useNow(minuteMs);
  if (expires === null) return 'never';
  if (parseTime(expires).getTime() > now + soonMs) return <Time value={expires} />;
  return (
    <StatusText tone="warning">
      <span>
        Soon: <Time value={expires} />
      </span>
    </StatusText>
  );
}

/** Extends the token by a year from now. The address in OBS stays the same. */
function RenewButton({ token: { id, name } }: { token: Token }) {
  const queries = useQueryClient();
  const renew = useMutation({
    mutationFn: () =>
      call(
        api().PATCH('/api/v1/tokens/{id}', {
          params: { path: { id } },
          body: { expires: toExpires(sourceDays) },
        }),
      ),
    onSuccess: () => {
      notifications.show({
        title: 'Renewed for a year',
        message: 'The address in OBS stays the same.',
      });
      return queries.invalidateQueries({ queryKey: tokensKey });
    },
    onError: (error) => {
      const { title, detail } = describeFault(error);
      notifications.show({ color: 'red', title, message: detail });
    },
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Renew: ${printUserText(name)}`}
      loading={renew.isPending}
      onClick={() => renew.mutate()}
    >
      Renew
    </Button>
  );
}
