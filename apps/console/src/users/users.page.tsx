import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { currentUserQuery, usersQuery } from '../api/queries.js';
import { DataTable, type Column } from '../kit/data-table.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import { StatusText } from '../kit/status-text.js';
import { Time } from '../kit/time.js';
import { UserText } from '../kit/user-text.js';
import { CreateUser } from './create-user.js';
import { UserActions, type User } from './user-actions.js';

const columns: readonly Column<User>[] = [
  { title: 'User', kind: 'title', render: (user) => <Name user={user} /> },
  { title: 'Email', render: ({ email }) => (email ? <UserText text={email} /> : '—') },
  { title: 'Role', render: ({ role }) => (role === 'owner' ? 'Owner' : 'User') },
  {
    title: 'State',
    render: ({ disabled }) => (
      <StatusText tone={disabled ? 'off' : 'good'}>{disabled ? 'Disabled' : 'Enabled'}</StatusText>
    ),
  },
  { title: 'Created', render: ({ created }) => <Time value={created} /> },
  { title: 'Actions', kind: 'actions', render: (user) => <UserActions user={user} /> },
];

/** Lists the people who can use the service. For owners only. */
export function UsersPage() {
  const query = useQuery(usersQuery);
  const [isCreating, { open, close }] = useDisclosure();
  return (
    <Page
      title="Users"
      description="Owners can do everything. Users cannot manage users, credentials, or stored data."
      actions={
        <Button size="xs" leftSection={<IconPlus size={15} />} onClick={open}>
          Create user
        </Button>
      }
    >
      <QueryView query={query}>
        {(users) => <DataTable label="Users" columns={columns} rows={users} keyOf={({ id }) => id} />}
      </QueryView>
      {isCreating && <CreateUser onClose={close} />}
    </Page>
  );
}

function Name({ user: { id, username, first_name, last_name } }: { user: User }) {
  const { data: me } = useQuery(currentUserQuery);
  return (
    <>
      <UserText text={username} />
      {id === me?.id && (
        <Text span inherit c="dimmed" fw={400}>
          {' '}
          (you)
        </Text>
      )}
      {(first_name || last_name) && (
        <Text size="xs" c="dimmed" fw={400}>
          <UserText text={`${first_name} ${last_name}`} />
        </Text>
      )}
    </>
  );
}
