import { Anchor, Button, Group, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, call } from '../api/api.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import type { Column } from '../kit/data-table.js';
import { QueryView } from '../kit/query-view.js';
import { UserText } from '../kit/user-text.js';
import { EndpointForm, tokenTypes } from './endpoint-form.js';
import { DuplicateBadge, EntryList } from './entry-list.js';
import { findDuplicates } from './group-entries.js';
import { endpointsQuery, scopesQuery, type Endpoint } from './reference-queries.js';
import classes from './reference.module.css';
import { callMethods } from './send-call.js';
import { TryCall } from './try-call.js';

type Dialog = { kind: 'try' | 'edit' | 'delete'; endpoint: Endpoint } | undefined;

const noEndpoints: readonly Endpoint[] = [];

export function Endpoints({ search }: { search: string }) {
  const query = useQuery(endpointsQuery);
  const { data: scopes = [] } = useQuery(scopesQuery);
  const [dialog, setDialog] = useState<Dialog>();
  const endpoints = query.data ?? noEndpoints;
  const duplicates = useMemo(() => findDuplicates(endpoints, meaningOf), [endpoints]);
  const scopeNames = useMemo(() => new Map(scopes.map(({ id, scope }) => [id, scope])), [scopes]);
  const scopeOf = ({ scope }: Endpoint): string => (scope && scopeNames.get(scope)) ?? '';
  const columns: readonly Column<Endpoint>[] = [
    {
      title: 'Endpoint',
      kind: 'title',
      render: (endpoint) => <Name endpoint={endpoint} isDuplicate={duplicates.has(endpoint.id)} />,
    },
    {
      title: 'Needs',
      render: (endpoint) => (
        <>
          {tokenTypes[endpoint.token_type]}
          {endpoint.scope !== null && (
            <Text size="xs" c="dimmed">
              <UserText text={scopeOf(endpoint)} />
            </Text>
          )}
        </>
      ),
    },
    {
      title: 'Actions',
      kind: 'actions',
      render: (endpoint) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {callMethods.includes(endpoint.method.toUpperCase()) && (
            <Button size="compact-xs" variant="light" onClick={() => setDialog({ kind: 'try', endpoint })}>
              Try it
            </Button>
          )}
          <Button size="compact-xs" variant="default" onClick={() => setDialog({ kind: 'edit', endpoint })}>
            Edit
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => setDialog({ kind: 'delete', endpoint })}>
            Delete…
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <>
      <QueryView query={query}>
        {(data) => (
          <EntryList
            entries={data}
            columns={columns}
            search={search}
            textOf={(each) => `${each.method} ${each.endpoint} ${each.description} ${scopeOf(each)}`}
            groupOf={({ endpoint }) => endpoint.replace(/^\/+/, '').split('/')[0] ?? ''}
          />
        )}
      </QueryView>
      <EndpointDialog dialog={dialog} onClose={() => setDialog(undefined)} />
    </>
  );
}

function EndpointDialog({ dialog, onClose }: { dialog: Dialog; onClose: () => void }) {
  const queries = useQueryClient();
  if (!dialog) return null;
  const { kind, endpoint } = dialog;
  if (kind === 'try') return <TryCall endpoint={endpoint} onClose={onClose} />;
  if (kind === 'edit') return <EndpointForm endpoint={endpoint} onClose={onClose} />;
  return (
    <ConfirmDialog
      title="Delete the endpoint?"
      action="Delete"
      onClose={onClose}
      onConfirm={async () => {
        const path = { id: endpoint.id };
        await call(api().DELETE('/api/v1/platform/api-endpoints/{id}', { params: { path } }));
        await queries.invalidateQueries({ queryKey: endpointsQuery.queryKey });
      }}
    >
      The entry <UserText text={`${endpoint.method} ${endpoint.endpoint}`} /> is deleted permanently; upgrades
      do not bring it back. Calls of this endpoint work as before.
    </ConfirmDialog>
  );
}

function Name({ endpoint, isDuplicate }: { endpoint: Endpoint; isDuplicate: boolean }) {
  const { method, endpoint: path, description, reference_url: url } = endpoint;
  return (
    <>
      <span className={classes.method} data-method={method.toUpperCase()}>
        <UserText text={method} maxLength={16} />
      </span>
      <UserText text={path} />
      {isDuplicate && <DuplicateBadge />}
      <Text size="xs" c="dimmed" fw={400}>
        <UserText text={description} />
        {/* Link only to web addresses. Users can enter any address, and other schemes could run a script. */}
        {/^https?:\/\//i.test(url) && (
          <Anchor
            href={url}
            target="_blank"
            rel="noreferrer"
            inherit
            ml={6}
            aria-label={`Documentation of ${method} ${path}`}
          >
            <IconExternalLink size={13} aria-hidden />
          </Anchor>
        )}
      </Text>
    </>
  );
}

/** Returns a key that is equal for entries with the same method and path. */
function meaningOf({ method, endpoint }: Endpoint): string {
  return `${method.toUpperCase()} ${endpoint.replace(/^\/+|\/+$/g, '')}`;
}
