import { ActionIcon, Menu, Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDots } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState } from 'react';
import { api, call } from '../api/api.js';
import { describeFault } from '../api/api-error.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { UserText } from '../kit/user-text.js';
import { TokenTable } from '../tokens/token-table.js';

export type User = components['schemas']['UserReply'];
type Changes = components['schemas']['UserStateBody'];

/** Actions that an owner can take on a user. */
export function UserActions({ user }: { user: User }) {
  const { id, username, role, disabled } = user;
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<'tokens' | 'disable' | 'delete'>();
  const path = { id };
  const refresh = () => queries.invalidateQueries({ queryKey: ['users'] });
  const update = async (body: Changes): Promise<void> => {
    await call(api().PATCH('/api/v1/users/{id}', { params: { path }, body }));
    await refresh();
  };
  const change = useMutation({
    mutationFn: update,
    onError: (error) => {
      const { title, detail: message } = describeFault(error);
      notifications.show({ title, message, color: 'red' });
    },
  });
  const close = (): void => setDialog(undefined);
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Actions for ${username}`}
            loading={change.isPending}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog('tokens')}>Show tokens</Menu.Item>
          <Menu.Item onClick={() => change.mutate({ role: role === 'owner' ? 'user' : 'owner' })}>
            {role === 'owner' ? 'Remove the owner role' : 'Make an owner'}
          </Menu.Item>
          {disabled ? (
            <Menu.Item onClick={() => change.mutate({ disabled: false })}>Enable</Menu.Item>
          ) : (
            <Menu.Item onClick={() => setDialog('disable')}>Disable…</Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item onClick={() => setDialog('delete')} c="var(--mantine-color-error)">
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'tokens' && (
        <Modal
          opened
          onClose={close}
          size="xl"
          title={`Tokens of ${username}`}
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <TokenTable userId={id} />
        </Modal>
      )}
      {dialog === 'disable' && (
        <ConfirmDialog
          title="Disable the user?"
          action="Disable"
          onClose={close}
          onConfirm={() => update({ disabled: true })}
        >
          All tokens and sessions of <UserText text={username} /> are revoked within a second: programs that
          use the tokens stop working. Enabling the user again does not restore the tokens.
        </ConfirmDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete the user?"
          action="Delete"
          onClose={close}
          onConfirm={async () => {
            await call(api().DELETE('/api/v1/users/{id}', { params: { path } }));
            await refresh();
          }}
        >
          <UserText text={username} /> and all tokens of this user are deleted permanently: programs that use
          the tokens stop working. Events that the user added are kept.
        </ConfirmDialog>
      )}
    </>
  );
}
