import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { SecretNotice } from '../kit/secret-notice.js';

const nothing = { current_password: '', new_password: '' };

/** Changes the password and shows the new main token. A password change replaces the main token. */
export function ChangePassword({ username }: { username: string }) {
  const queries = useQueryClient();
  const [passwords, setPasswords] = useState(nothing);
  const change = useMutation({
    mutationFn: () => call(api().POST('/api/v1/users/me/password', { body: passwords })),
    onSuccess: async () => {
      setPasswords(nothing);
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  if (change.data)
    return (
      <SecretNotice label="New main token" secret={change.data.token} onDone={change.reset}>
        The password was changed, and your other sessions have ended. Programs with the old main token need
        the new one.
      </SecretNotice>
    );
  const fieldErrors = change.error instanceof ApiError ? change.error.fieldErrors : {};
  const field = (name: keyof typeof nothing) => ({
    value: passwords[name],
    error: fieldErrors[name],
    required: true,
    withAsterisk: false,
    visibilityToggleButtonProps: { 'aria-label': 'Show the password' },
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setPasswords((current) => ({ ...current, [name]: value })),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" mt="xs">
        {/* Password managers need this field to find the right account. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <PasswordInput
          label="Current password"
          {...field('current_password')}
          autoComplete="current-password"
        />
        <PasswordInput
          label="New password"
          description="At least 10 characters"
          {...field('new_password')}
          autoComplete="new-password"
        />
        {change.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={change.error} />}
        <Group>
          <Button type="submit" size="xs" variant="default" loading={change.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
