import { Button, Group, Modal, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { usersQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';

const noUser = { username: '', password: '', first_name: '', last_name: '', email: '' };

/** Creates a user, who can then sign in with the password. */
export function CreateUser({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [user, setUser] = useState(noUser);
  const create = useMutation({
    mutationFn: () => call(api().POST('/api/v1/users', { body: user })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: usersQuery.queryKey });
      onClose();
    },
  });
  const fieldErrors = create.error instanceof ApiError ? create.error.fieldErrors : {};
  const field = (name: keyof typeof noUser) => ({
    value: user[name],
    error: fieldErrors[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setUser((current) => ({ ...current, [name]: value })),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Modal opened onClose={onClose} title="Create a user" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Username"
            {...field('username')}
            autoComplete="off"
            autoCapitalize="none"
            required
            withAsterisk={false}
            data-autofocus
          />
          <PasswordInput
            label="Password"
            description="At least 10 characters. Give the password to the user, who can change it later."
            {...field('password')}
            autoComplete="new-password"
            required
            withAsterisk={false}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          />
          <Group grow align="flex-start">
            <TextInput label="First name (optional)" {...field('first_name')} autoComplete="off" />
            <TextInput label="Last name (optional)" {...field('last_name')} autoComplete="off" />
          </Group>
          <TextInput label="Email (optional)" {...field('email')} autoComplete="off" />
          {create.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={create.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create user
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
