import { Badge, Button, Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import type { Column } from '../kit/data-table.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { QueryView } from '../kit/query-view.js';
import { UserText } from '../kit/user-text.js';
import { DuplicateBadge, EntryList } from './entry-list.js';
import { findDuplicates } from './group-entries.js';
import { endpointsQuery, scopesQuery, type Scope } from './reference-queries.js';

const noScopes: readonly Scope[] = [];

/** Lists the permissions that users can grant on the platform. */
export function Scopes({ search }: { search: string }) {
  const queries = useQueryClient();
  const query = useQuery(scopesQuery);
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const [edited, setEdited] = useState<Scope>();
  const [deleted, setDeleted] = useState<Scope>();
  const scopes = query.data ?? noScopes;
  const duplicates = useMemo(() => findDuplicates(scopes, ({ scope }) => scope), [scopes]);
  const columns: readonly Column<Scope>[] = [
    {
      title: 'Scope',
      kind: 'title',
      render: ({ id, scope }) => (
        <>
          <UserText text={scope} />
          {duplicates.has(id) && <DuplicateBadge />}
        </>
      ),
    },
    {
      title: 'Grant',
      render: ({ required }) =>
        required ? (
          <Badge size="sm" radius="sm" variant="default">
            Required
          </Badge>
        ) : (
          'optional'
        ),
    },
    {
      title: 'Used by',
      kind: 'number',
      render: ({ id }) => describeUse(endpoints.filter(({ scope }) => scope === id).length),
    },
    {
      title: 'Actions',
      kind: 'actions',
      render: (scope) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button size="compact-xs" variant="default" onClick={() => setEdited(scope)}>
            Edit
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => setDeleted(scope)}>
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
            textOf={({ scope }) => scope}
            groupOf={({ scope }) => scope.split(':')[0] ?? ''}
          />
        )}
      </QueryView>
      {edited && <ScopeForm scope={edited} onClose={() => setEdited(undefined)} />}
      {deleted && (
        <ConfirmDialog
          title="Delete the scope?"
          action="Delete"
          onClose={() => setDeleted(undefined)}
          onConfirm={async () => {
            await call(
              api().DELETE('/api/v1/platform/scopes/{id}', { params: { path: { id: deleted.id } } }),
            );
            await queries.invalidateQueries({ queryKey: scopesQuery.queryKey });
          }}
        >
          <UserText text={deleted.scope} /> is deleted permanently; upgrades do not bring it back. What users
          have granted on the platform does not change.
        </ConfirmDialog>
      )}
    </>
  );
}

function describeUse(count: number): string {
  if (count === 0) return 'no endpoint';
  return count === 1 ? '1 endpoint' : `${count} endpoints`;
}

export function ScopeForm({ scope: changed, onClose }: { scope?: Scope; onClose: () => void }) {
  const queries = useQueryClient();
  const [scope, setScope] = useState(changed?.scope ?? '');
  const [required, setRequired] = useState(changed?.required ?? false);
  const save = useMutation({
    mutationFn: () => {
      const body = { scope, required };
      return changed
        ? call(api().PUT('/api/v1/platform/scopes/{id}', { params: { path: { id: changed.id } }, body }))
        : call(api().POST('/api/v1/platform/scopes', { body }));
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: scopesQuery.queryKey });
      onClose();
    },
  });
  const fieldErrors = save.error instanceof ApiError ? save.error.fieldErrors : {};
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={changed ? 'Edit the scope' : 'Add a scope'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Scope"
            description="The name on the platform, for example channel:read:subscriptions"
            value={scope}
            onChange={({ currentTarget }) => setScope(currentTarget.value)}
            error={fieldErrors.scope}
            maxLength={255}
            required
            withAsterisk={false}
            data-autofocus
          />
          <Checkbox
            label="Users must grant it"
            checked={required}
            onChange={({ currentTarget }) => setRequired(currentTarget.checked)}
            error={fieldErrors.required}
          />
          {save.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={save.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {changed ? 'Save' : 'Add scope'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
