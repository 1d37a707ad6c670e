import { Button, Group, Progress, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconEraser } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState, type ReactNode, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError, retryInterval } from '../api/api-error.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { EmptyNotice } from '../kit/empty-notice.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { printNumber } from '../kit/print-number.js';
import { QueryView } from '../kit/query-view.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';

type Erasure = components['schemas']['ErasureRecord'];
type ErasureBody = components['schemas']['ErasureBody'];

const queryKey = ['erasures'];
const runningPollMs = 1_000;

/** Erases a platform user. Counts the records first, so that an owner notices a wrong id before anything is deleted. */
export function Erasures() {
  const queries = useQueryClient();
  const query = useQuery({
    queryKey,
    queryFn: () => call(api().GET('/api/v1/erasures')),
    refetchInterval: ({ state: { data, error } }) =>
      data?.some(({ status }) => status === 'running') ? runningPollMs : retryInterval(error),
  });
  const [erased, setErased] = useState<Erasure>();
  // The service forgets the platform user's id when a count or erasure ends. Remember the ids that were typed on this page.
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const start = async (body: ErasureBody): Promise<void> => {
    const { user_hash } = await call(api().POST('/api/v1/erasures', { body }));
    const { platform_user_id } = body;
    if (platform_user_id !== undefined) setTyped((ids) => ({ ...ids, [user_hash]: platform_user_id }));
    await queries.invalidateQueries({ queryKey });
  };
  const nameOf = ({ platform_user_id, user_hash }: Erasure): ReactNode => {
    const id = platform_user_id ?? typed[user_hash];
    return id === undefined ? `hash ${user_hash.slice(0, 8)}…` : <UserText text={id} />;
  };
  const columns: readonly Column<Erasure>[] = [
    { title: 'User', kind: 'title', render: nameOf },
    ...factColumns,
    {
      title: 'Actions',
      kind: 'actions',
      render: (erasure) =>
        erasure.dry_run &&
        erasure.status === 'done' &&
        Object.keys(erasure.counts).length > 0 && (
          <Button size="compact-xs" variant="light" color="red" onClick={() => setErased(erasure)}>
            Erase these…
          </Button>
        ),
    },
  ];
  return (
    <Stack>
      <CountForm onCount={(platform_user_id) => start({ platform_user_id, dry_run: true })} />
      <QueryView query={query}>
        {(erasures) =>
          erasures.length === 0 ? (
            <EmptyNotice icon={IconEraser} title="Nobody was erased">
              Count the records of a platform user first. Then erase the records.
            </EmptyNotice>
          ) : (
            <section aria-labelledby="erasures">
              <Title order={2} size="h4" id="erasures" mb={4}>
                Erasures and counts
              </Title>
              <DataTable label="Erasures" columns={columns} rows={erasures} keyOf={({ id }) => id} />
            </section>
          )
        }
      </QueryView>
      {erased && (
        <ConfirmDialog
          title="Erase the user?"
          action="Erase"
          onClose={() => setErased(undefined)}
          onConfirm={() => start({ user_hash: erased.user_hash })}
        >
          {describeCounts(erased)} of the user {nameOf(erased)}, and everything that arrives until the erasure
          starts, are deleted permanently. An erasure cannot be undone or canceled. Backups, and copies that
          clients have already received, stay.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function CountForm({ onCount }: { onCount: (userId: string) => Promise<void> }) {
  const [userId, setUserId] = useState('');
  const count = useMutation({ mutationFn: () => onCount(userId), onSuccess: () => setUserId('') });
  const fieldError = count.error instanceof ApiError ? count.error.fieldErrors.platform_user_id : undefined;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    count.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Id of the platform user"
          description="The user’s numeric id on the platform, not the name"
          value={userId}
          onChange={({ currentTarget }) => setUserId(currentTarget.value)}
          error={fieldError}
          // Show the error above the input, so that the button stays beside the field.
          inputWrapperOrder={['label', 'description', 'error', 'input']}
          required
          withAsterisk={false}
        />
        <Button type="submit" variant="default" loading={count.isPending}>
          Count records
        </Button>
      </Group>
      {count.error && !fieldError && <FaultNotice error={count.error} />}
    </form>
  );
}

const factColumns: readonly Column<Erasure>[] = [
  { title: 'What', render: ({ dry_run }) => (dry_run ? 'Count' : 'Erasure') },
  { title: 'State', render: (erasure) => <State erasure={erasure} /> },
  { title: 'Found', render: describeCounts },
  { title: 'Requested', render: ({ created }) => <Time value={created} /> },
];

function State({ erasure: { status, stage, progress, error } }: { erasure: Erasure }) {
  if (status === 'done') return 'Done';
  return (
    <Stack gap={3} miw={120}>
      <span>Searching: {stage.replaceAll('_', ' ')}</span>
      <Progress value={progress * 100} size="xs" aria-label="Progress of this stage" />
      {error !== null && (
        <Text size="xs" c="var(--mantine-color-error)">
          <UserText text={error} />
        </Text>
      )}
    </Stack>
  );
}

/** Formats how many records name the user: `1,204 events, 1 dead letter`. */
function describeCounts({ counts }: Erasure): string {
  const parts = Object.entries(counts).map(([kind, { total }]) => {
    const noun = total === 1 ? kind.replace(/s$/, '') : kind;
    return `${printNumber(total)} ${noun.replaceAll('_', ' ')}`;
  });
  return parts.join(', ') || 'Nothing';
}
