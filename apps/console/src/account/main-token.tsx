import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { SecretNotice } from '../kit/secret-notice.js';

export function MainToken() {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <Group mt="xs">
      <Button size="xs" variant="default" onClick={open}>
        Replace the main token…
      </Button>
      {isOpen && <RotateDialog onClose={close} />}
    </Group>
  );
}

function RotateDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [password, setPassword] = useState('');
  const rotate = useMutation({
    mutationFn: () => call(api().POST('/api/v1/users/me/token', { body: { current_password: password } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const fieldError = rotate.error instanceof ApiError ? rotate.error.fieldErrors.current_password : undefined;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    rotate.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={rotate.data ? 'The main token was replaced' : 'Replace the main token?'}
      closeOnClickOutside={!rotate.data}
      closeOnEscape={!rotate.data}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {rotate.data ? (
        <SecretNotice label="New main token" secret={rotate.data.token} onDone={onClose}>
          Give the new token to the programs that used the old token.
        </SecretNotice>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">
              Every program with the current main token loses its access within a second, and its live
              connections are closed. This session and your named tokens stay.
            </Text>
            <PasswordInput
              label="Current password"
              value={password}
              onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              error={fieldError}
              autoComplete="current-password"
              required
              withAsterisk={false}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
              data-autofocus
            />
            {rotate.error && fieldError === undefined && <FaultNotice error={rotate.error} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" color="red.8" loading={rotate.isPending}>
                Replace
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
