import { Button, Group, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';

type User = components['schemas']['UserReply'];

export function Profile({ user: { first_name, last_name, email } }: { user: User }) {
  const queries = useQueryClient();
  const [profile, setProfile] = useState({ first_name, last_name, email });
  const save = useMutation({
    mutationFn: () => call(api().PATCH('/api/v1/users/me', { body: profile })),
    onSuccess: async () => {
      notifications.show({ message: 'Saved', color: 'teal' });
      await queries.invalidateQueries({ queryKey: ['users'] });
    },
  });
  const fieldErrors = save.error instanceof ApiError ? save.error.fieldErrors : {};
  const field = (name: keyof typeof profile) => ({
    value: profile[name],
    error: fieldErrors[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setProfile((current) => ({ ...current, [name]: value })),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" mt="xs">
        <Group grow align="flex-start">
          <TextInput label="First name" {...field('first_name')} autoComplete="given-name" />
          <TextInput label="Last name" {...field('last_name')} autoComplete="family-name" />
        </Group>
        <TextInput label="Email" {...field('email')} autoComplete="email" />
        {save.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={save.error} />}
        <Group>
          <Button type="submit" size="xs" variant="default" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
